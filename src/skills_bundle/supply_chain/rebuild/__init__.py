"""`rebuild`: a commit built again and compared bit for bit."""
