"""`verify-source`: an archive compared with the commit it names."""
