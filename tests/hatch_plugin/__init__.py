"""The build hook, driven in process by hatchling and through its front ends."""
