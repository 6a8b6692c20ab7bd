"""`export`: verified copies of installed skills."""
