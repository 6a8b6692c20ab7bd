"""What is installed: distributions, the collections they declare, and a bundle as it is now.

May import `project`, `bundle` and what lies below; opens no repository and no network.
"""
