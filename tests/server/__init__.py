"""Tests of the server, module by module; `peer` holds the client that they share."""
