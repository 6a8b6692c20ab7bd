"""The build hook: what hatchling selects, closed to what the commit holds, in one form of bytes.

May import `bundle`, `skills`, `formats`, `errors`, and as the only package hatchling;
never anything of the server. It reads the source tree and writes only the archive being built.
"""
