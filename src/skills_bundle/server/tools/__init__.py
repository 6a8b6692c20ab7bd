"""The tools, by group. Know the catalog; nothing of the SDK, stdio or each other; do no I/O."""
