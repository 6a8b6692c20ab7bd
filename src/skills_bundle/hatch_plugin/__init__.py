"""The build hook: what hatchling selects, limited to what the commit holds, in canonical form.

May import `project`, `bundle`, `archives`, `git`, `files`, `formats` and `errors`, and is the only
package that imports hatchling; never anything of the server. It reads the source tree and writes
only the archive being built.
"""
