"""The style sheet of HTML reports: light and dark, narrow and wide, screen and paper.

Everything is scoped to `.rlclinic`, so that a report can stand inside a notebook.
"""

from __future__ import annotations

_LIGHT = (
    "--fg:#1b1f24;--soft:#57606a;--bg:#fff;--card:#f6f8fa;--rule:#d8dee4;--accent:#0b62d0;--second:#9a5b00;"
    "--good:#14692f;--caution:#855400;--bad:#b3261e;--error:#b3261e;--warning:#855400;--info:#0b62d0;"
)
_DARK = (
    "--fg:#e6e9ed;--soft:#9aa4b0;--bg:#14171b;--card:#1d2228;--rule:#343b44;--accent:#6cb0ff;--second:#e0a458;"
    "--good:#63c987;--caution:#e0a458;--bad:#ff8a80;--error:#ff8a80;--warning:#e0a458;--info:#6cb0ff;"
)

STYLE = f"""
.rlclinic{{{_LIGHT}color-scheme:light dark;color:var(--fg);background:var(--bg);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;max-width:1080px;margin:0 auto;padding:24px 20px}}
@media (prefers-color-scheme:dark){{.rlclinic{{{_DARK}}}}}
.rlclinic *{{box-sizing:border-box}}
.rlclinic h1{{font-size:1.5em;margin:0 0 6px;overflow-wrap:anywhere;display:flex;flex-wrap:wrap;gap:12px;
align-items:center}}
.rlclinic h2{{font-size:1.15em;margin:34px 0 10px;padding-bottom:4px;border-bottom:1px solid var(--rule)}}
.rlclinic h3{{font-size:1em;margin:0 0 4px;overflow-wrap:anywhere}}
.rlclinic p{{margin:6px 0}}
.rlclinic p.note{{color:var(--soft);font-size:.9em}}
.rlclinic p.lead{{font-weight:600;font-size:1.05em}}
.rlclinic .reason{{font-size:1.1em}}
.rlclinic .verdict{{font-size:.62em;letter-spacing:.05em;padding:4px 10px;border-radius:4px;border:1.5px solid;
text-transform:uppercase;white-space:nowrap}}
.rlclinic .good{{color:var(--good)}}
.rlclinic .caution{{color:var(--caution)}}
.rlclinic .bad{{color:var(--bad)}}
.rlclinic code,.rlclinic pre{{font:.88em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}}
.rlclinic code{{overflow-wrap:anywhere}}
.rlclinic td code{{white-space:nowrap}}
.rlclinic pre{{background:var(--card);padding:10px 12px;border-radius:6px;white-space:pre-wrap;
overflow-wrap:anywhere;margin:4px 0}}
.rlclinic dl{{display:grid;grid-template-columns:max-content 1fr;gap:3px 18px;margin:8px 0}}
.rlclinic dt{{color:var(--soft)}}
.rlclinic dd{{margin:0;overflow-wrap:anywhere}}
.rlclinic .scroll{{overflow-x:auto}}
.rlclinic table{{border-collapse:collapse;margin:8px 0;font-size:.94em}}
.rlclinic th,.rlclinic td{{text-align:left;padding:4px 16px 4px 0;border-bottom:1px solid var(--rule);
vertical-align:top}}
.rlclinic th{{color:var(--soft);font-weight:500}}
.rlclinic .num{{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}}
.rlclinic #metrics td:nth-child(3n+4):not(.num){{color:var(--accent);opacity:.8;white-space:nowrap}}
.rlclinic ul,.rlclinic ol{{margin:6px 0;padding-left:24px}}
.rlclinic li{{margin:3px 0;overflow-wrap:anywhere}}
.rlclinic .card{{background:var(--card);border-left:4px solid var(--rule);border-radius:0 6px 6px 0;
padding:10px 14px;margin:10px 0;break-inside:avoid}}
.rlclinic .card.error{{border-color:var(--error)}}
.rlclinic .card.warning{{border-color:var(--warning)}}
.rlclinic .card.info{{border-color:var(--info)}}
.rlclinic .card ul{{font-size:.92em;color:var(--soft)}}
.rlclinic .tag{{font-weight:600;margin-right:6px}}
.rlclinic .tag.error{{color:var(--error)}}
.rlclinic .tag.warning{{color:var(--warning)}}
.rlclinic .tag.info{{color:var(--info)}}
.rlclinic .cause{{margin:14px 0;break-inside:avoid}}
.rlclinic .cause h3{{display:flex;gap:12px;align-items:center;flex-wrap:wrap}}
.rlclinic .bar{{flex:0 0 200px;height:10px;background:var(--rule);border-radius:5px;overflow:hidden;
print-color-adjust:exact;-webkit-print-color-adjust:exact}}
.rlclinic .bar span{{display:block;height:100%;background:var(--accent);print-color-adjust:exact;
-webkit-print-color-adjust:exact}}
.rlclinic .share{{min-width:4.5em;font-variant-numeric:tabular-nums}}
.rlclinic .for::marker{{content:"+ "}}
.rlclinic .against::marker{{content:"\\2212  "}}
.rlclinic .charts{{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:14px;margin:12px 0}}
.rlclinic figure{{margin:0;break-inside:avoid;min-width:0}}
.rlclinic figure.wide{{overflow-x:auto}}
.rlclinic figcaption{{font-size:.88em;overflow-wrap:anywhere}}
.rlclinic figcaption span{{color:var(--soft)}}
.rlclinic svg{{width:100%;height:auto;display:block;overflow:visible}}
.rlclinic svg text{{font:10px system-ui,sans-serif;fill:var(--soft)}}
.rlclinic .grid{{stroke:var(--rule);stroke-width:.7;opacity:.7}}
.rlclinic .axis{{stroke:var(--soft);stroke-width:.8}}
.rlclinic .line{{fill:none;stroke:var(--accent);stroke-width:1.4;stroke-linejoin:round}}
.rlclinic .dot{{fill:var(--accent)}}
.rlclinic .line.line-1{{stroke:var(--second)}}
.rlclinic .dot.line-1{{fill:var(--second)}}
.rlclinic path.goal{{stroke:var(--good);stroke-width:1.1;stroke-dasharray:6 4;fill:none}}
.rlclinic svg text.goal{{fill:var(--good)}}
.rlclinic .gap{{stroke:var(--error);stroke-width:1}}
.rlclinic path.mark{{stroke-width:1.2;stroke-dasharray:3 3;fill:none}}
.rlclinic path.mark.error{{stroke:var(--error);stroke-dasharray:none}}
.rlclinic path.mark.warning{{stroke:var(--warning)}}
.rlclinic path.mark.info{{stroke:var(--info);stroke-dasharray:1 3}}
.rlclinic svg text.mark{{font-weight:600}}
.rlclinic svg text.mark.error{{fill:var(--error)}}
.rlclinic svg text.mark.warning{{fill:var(--warning)}}
.rlclinic svg text.mark.info{{fill:var(--info)}}
.rlclinic .legend{{display:flex;flex-wrap:wrap;gap:4px 22px;list-style:none;padding:0;font-size:.88em;
color:var(--soft)}}
.rlclinic .legend li{{margin:0}}
.rlclinic .legend svg{{display:inline-block;width:26px;height:10px;vertical-align:middle;margin-right:6px}}
.rlclinic details{{margin:14px 0 10px}}
.rlclinic details>div{{scroll-margin-top:56px}}
.rlclinic .held{{color:var(--soft);font-size:.9em;margin-left:10px}}
.rlclinic summary{{cursor:pointer;border-bottom:1px solid var(--rule);margin-bottom:10px}}
.rlclinic summary h2{{display:inline-block;border:0;margin:0 0 0 4px}}
.rlclinic .answer{{background:var(--card);border-radius:8px;padding:8px 16px;margin:10px 0}}
.rlclinic .answer dt{{font-weight:600}}
.rlclinic nav ul{{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;padding:0;font-size:.9em}}
.rlclinic nav a{{color:var(--accent)}}
.rlclinic .told{{fill:transparent;stroke:none}}
.rlclinic .told:hover{{fill:var(--accent);fill-opacity:.35}}
.rlclinic .phone{{display:none}}
.rlclinic footer{{margin-top:34px;color:var(--soft);font-size:.85em}}
@media print{{
.rlclinic{{{_LIGHT}max-width:none;padding:0;font-size:11px}}
.rlclinic h2{{break-after:avoid}}
.rlclinic .charts{{grid-template-columns:repeat(3,1fr)}}
.rlclinic details::details-content{{content-visibility:visible;display:block}}
}}
@media (max-width:700px){{
.rlclinic figure.wide svg{{min-width:680px}}
.rlclinic div.wide{{display:none}}
.rlclinic .phone{{display:block}}
}}
@media (max-width:560px){{
.rlclinic{{padding:14px 12px}}
.rlclinic dt:empty{{display:none}}
.rlclinic dl{{grid-template-columns:1fr;gap:0}}
.rlclinic dd{{margin-bottom:6px}}
.rlclinic #runs td code{{white-space:normal}}
.rlclinic #runs td,.rlclinic #runs th{{padding-right:8px}}
}}
""".replace("\n", "")

# Colours that stay apart for most kinds of colour blindness and on light and dark grounds (after Okabe and Ito).
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#8c564b", "#7f7f7f")
MANY_CURVES = "".join(
    f".rlclinic .line.line-{index}{{stroke:{colour}}}.rlclinic .dot.line-{index}{{fill:{colour}}}"
    for index, colour in enumerate(_COLOURS)
)
