"""What the documentation says about the code, rendered from the code's own objects.

One module a kind of fact; each function gives the Markdown of one region.
"""

from __future__ import annotations

from importlib import import_module

REGIONS: dict[str, str] = {
    "changes": "errors:changes",
    "claims": "evidence:claims",
    "commands": "commands:render",
    "conformance-clients": "conformance:clients",
    "conformance-exempt": "conformance:exempt",
    "conformance-passed": "conformance:passed",
    "conformance-summary": "conformance:summary",
    "decisions": "decisions:index",
    "diagnostics": "diagnostics:render",
    "error-classes": "errors:classes",
    "gaps": "evidence:gaps",
    "junk": "evidence:junk",
    "limits": "limits:render",
    "modules": "modules:render",
    "provenance-fields": "evidence:fields",
    "reasons": "evidence:reasons",
    "reproducible-missing": "reproducibility:missing",
    "reproducible-summary": "reproducibility:summary",
    "reproducible-varied": "reproducibility:varied",
    "sessions": "development:sessions",
    "settings": "settings:render",
    "skill-methods": "skills:methods",
    "skill-reasons": "skills:reasons",
    "skill-refusals": "skills:refusals",
    "source-provenance-fields": "evidence:claim_fields",
    "states": "evidence:states",
    "tamper-code": "tamper:package",
    "tamper-file": "tamper:files",
    "tamper-lock": "tamper:lock",
    "tamper-not-run": "tamper:not_run",
    "tamper-receipt": "tamper:receipt",
    "tamper-record": "tamper:record",
    "tool-errors": "tools:errors",
    "tools": "tools:render",
    "tools-of-several": "tools:of_several",
    "transport-bounds": "transport:bounds",
    "transport-endings": "transport:endings",
    "transport-lines": "transport:lines",
    "transport-openings": "transport:openings",
    "transport-revisions": "transport:revisions",
}
"""Region name to `module:function` of this package."""


def render(region: str) -> str:
    """Return the Markdown of one region.

    Raises:
        KeyError: If a page names a region that nothing renders.
    """
    module, _, function = REGIONS[region].partition(":")
    text: str = getattr(import_module(f"facts.{module}"), function)()
    return text.strip()
