"""in-toto statements about an archive: written and verified."""
