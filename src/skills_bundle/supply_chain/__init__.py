"""What one may ask of a distribution: verify, compare, rebuild, export and attest it, offline."""
