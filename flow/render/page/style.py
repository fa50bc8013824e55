"""The style of every page: colours by meaning, type, space, light, dark, narrow and on paper."""

from __future__ import annotations

_LIGHT = """--bg:#fff;--tint:#f7f7f9;--tag:#eeeff3;--line:#e4e5ea;--edge:#c6c8d1;--fg:#1a1b1f;\
--quiet:#5a5d68;--bar:#7d818d;--ok:#12703a;--ok2:#ddf2e4;--no:#b8232c;--no2:#fdecec;--un:#805300;\
--un2:#fdf3dc;--half:#b26b00;--out:#7532a6;--out2:#f3e9fa;--you:#0a57a8;--you2:#eaf2fc"""
_DARK = """--bg:#101114;--tint:#17181c;--tag:#202227;--line:#2a2c33;--edge:#4a4d58;--fg:#e7e8ec;\
--quiet:#a2a6b2;--bar:#858a97;--ok:#5ccb8d;--ok2:#14321f;--no:#ff8a84;--no2:#3b191b;--un:#e3b14e;\
--un2:#34280e;--half:#d9a441;--out:#cfa4f3;--out2:#2c1c3b;--you:#82beff;--you2:#12263c"""
_MONO = (
    'ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",'
    "monospace"
)
_SANS = 'ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'

_BASE = f"""
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%;scroll-padding-top:60px}}
body{{margin:0;background:var(--bg);color:var(--fg);font:14px/21px {_SANS};
font-variant-numeric:tabular-nums;overflow-wrap:break-word}}
code,pre{{font:12.5px/1.55 {_MONO};font-variant-ligatures:none}}
code{{overflow-wrap:anywhere}}
h1,h2,h3,p,ul,ol,dl,dd,pre,table,figure,blockquote{{margin:0;padding:0}}
ul,ol{{list-style:none}}
h1{{font-size:26px;line-height:32px;letter-spacing:-.018em;font-weight:650}}
h1 small{{font-size:1em;font-weight:400;color:var(--quiet)}}
h2{{font-size:16px;line-height:24px;font-weight:650;letter-spacing:-.008em}}
h3{{font-size:14px;font-weight:600}}
a{{color:inherit;text-underline-offset:3px;text-decoration-thickness:1px;
text-decoration-color:var(--edge)}}
a:hover{{text-decoration-color:currentColor}}
:focus-visible{{outline:2px solid var(--you);outline-offset:2px;border-radius:4px}}
.w{{max-width:1136px;margin:0 auto;padding:0 24px}}
.q{{color:var(--quiet)}}.s{{font-size:12.5px}}.nw{{white-space:nowrap}}.r{{text-align:right}}
.proved{{color:var(--ok)}}.failed{{color:var(--no)}}.undecided{{color:var(--un)}}
.outside{{color:var(--out)}}.you{{color:var(--you)}}.unasked{{color:var(--quiet)}}
.vh{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);
white-space:nowrap}}
.skip:focus{{position:fixed;top:8px;left:8px;z-index:9;width:auto;height:auto;padding:8px 12px;
clip-path:none;background:var(--bg)}}
.top{{position:sticky;top:0;z-index:5;background:var(--bg);border-bottom:1px solid var(--line);
font-size:13px}}
.top .w{{display:flex;flex-wrap:wrap;gap:4px 20px;align-items:center;min-height:44px}}
.top nav{{display:flex;align-items:baseline;flex-wrap:wrap;gap:4px 16px}}
.top nav+nav{{margin-left:auto}}
.top nav a{{color:var(--quiet);text-decoration:none;padding:2px 0}}
.top nav a:hover{{color:var(--fg)}}
.top nav b{{font-weight:600}}
svg.m{{width:16px;height:16px;vertical-align:-3px;flex:none}}
section{{margin-top:44px}}
.head{{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;margin-bottom:12px}}
.head p{{color:var(--quiet);font-size:13px}}
table{{border-collapse:collapse;width:100%;font-size:13px;line-height:19.5px}}
caption{{text-align:left;color:var(--quiet);font-size:12.5px;padding-bottom:6px}}
th{{font-weight:500;text-align:left}}
td,th{{padding:6px 12px 6px 0;vertical-align:top;border-bottom:1px solid var(--line)}}
th.r{{text-align:right}}
thead th{{color:var(--quiet);font-size:12.5px;padding-top:0}}
tbody tr:last-child>*{{border-bottom:0}}
td:last-child,th:last-child{{padding-right:0}}
pre{{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:10px 12px;
white-space:pre;overflow-x:auto}}
.cmd{{display:block;background:var(--bg);border:1px solid var(--edge);border-radius:6px;
padding:8px 12px;font-size:13px;user-select:all;-webkit-user-select:all;overflow-wrap:anywhere;
white-space:pre-wrap}}
.cmd::before{{content:"$ ";color:var(--quiet)}}
.tag{{display:inline-block;font-size:11.5px;line-height:16px;padding:0 6px;border-radius:4px;
background:var(--tag);color:var(--quiet);white-space:nowrap;font-weight:500}}
summary{{list-style:none;cursor:pointer}}
summary::-webkit-details-marker{{display:none}}
.fold::before{{content:"";flex:none;width:6px;height:6px;border:solid var(--quiet);
border-width:0 1.5px 1.5px 0;transform:rotate(-45deg);margin:0 6px 1px 2px}}
[open]>.fold::before{{transform:rotate(45deg)}}
.pick{{display:flex;flex-wrap:wrap;gap:2px;font-size:12.5px;margin-left:auto}}
.pick a{{text-decoration:none;color:var(--quiet);padding:3px 9px;border-radius:5px}}
.pick a:hover{{background:var(--tint)}}
.pick a:target,.pick:not(:has(:target)) a:first-child{{background:var(--tag);color:var(--fg);
font-weight:500}}
footer{{margin:56px 0 40px;padding-top:16px;border-top:1px solid var(--line);color:var(--quiet);
font-size:12.5px}}
blockquote::before{{content:"“"}}blockquote::after{{content:"”"}}
.legend{{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12.5px;color:var(--quiet);
margin-top:10px}}
.legend svg.m{{width:13px;height:13px;vertical-align:-2px;margin-right:6px}}
.paper{{display:none}}
.f-ok{{fill:var(--ok)}}.f-ok2{{fill:var(--ok2)}}.f-no{{fill:var(--no)}}.f-un2{{fill:var(--un2)}}
.f-half{{fill:var(--half)}}.f-out2{{fill:var(--out2)}}.f-you{{fill:var(--you)}}
.f-bar{{fill:var(--bar)}}.f-tag{{fill:var(--tag)}}.f-edge{{fill:var(--edge)}}
.f-fg{{fill:var(--fg)}}
.f-bg{{fill:var(--bg)}}.f-no-fill{{fill:none}}
.l-ok{{stroke:var(--ok)}}.l-bg{{stroke:var(--bg)}}.l-half{{stroke:var(--half)}}
.l-out{{stroke:var(--out)}}.l-quiet{{stroke:var(--quiet)}}.l-un{{stroke:var(--un)}}
.l-line{{stroke:var(--line)}}.l-fg{{stroke:var(--fg)}}
"""

_GOAL = """
.hero{display:grid;grid-template-columns:minmax(0,1fr) 400px;gap:16px 40px;padding:28px 0 24px}
h1 svg.m{width:26px;height:26px;margin-right:10px;vertical-align:-4px}
.hero h1+p{font-size:15px;line-height:22px;margin-top:6px;max-width:62ch}
.why{margin-top:12px;color:var(--quiet);max-width:66ch}.why a{color:var(--fg)}
.mend{margin-top:10px;font-size:13px;display:grid;gap:4px}.mend li{display:flex;gap:8px;
flex-wrap:wrap;align-items:baseline}.mend span{color:var(--quiet)}
.do{border-radius:10px;padding:14px 16px;align-self:start;margin-top:2px;background:var(--you2)}
.do h2{font-size:13px;line-height:20px;letter-spacing:0;color:var(--you);margin-bottom:8px;
display:flex;gap:6px;align-items:center}
.do .cmd{padding:10px 12px;font-weight:500}
.do p{font-size:12.5px;line-height:19px;margin-top:8px;color:var(--quiet)}
.do p.or{color:var(--fg)}.do p+.cmd{margin-top:4px;font-size:12.5px;padding:8px 12px;
font-weight:400}
.do.work{background:var(--tint)}.do.work h2{color:var(--fg)}
.do.mendit{background:var(--out2)}.do.mendit h2{color:var(--out)}
.do.mendit p{color:var(--fg)}
.said{align-self:start;margin-top:2px;padding:14px 0}.said h2{font-size:13px;line-height:20px;
letter-spacing:0;display:flex;gap:6px;align-items:center;margin-bottom:6px}
.said p{font-size:12.5px;color:var(--quiet);margin-top:6px}.said p code{color:var(--fg)}
.facts{display:flex;flex-wrap:wrap;gap:4px 24px;border:solid var(--line);border-width:1px 0;
padding:9px 0;font-size:12.5px}
.facts div{display:flex;gap:6px;align-items:baseline;min-width:0}.facts dt{color:var(--quiet);
flex:none}
.facts dd{min-width:0}.facts code{font-size:12px}
.two{display:grid;grid-template-columns:minmax(0,1fr) 300px;gap:40px;margin-top:24px}
.two section{margin-top:0}
.two.tall{grid-template-columns:minmax(0,1fr);gap:32px}
.tall .np ul{columns:2;column-gap:48px}.tall .np li{break-inside:avoid;
padding:8px 0}
.grid td,.grid thead th{padding:0;text-align:center;vertical-align:middle}
.grid thead th:first-child{text-align:left}
.grid tbody th{padding:7px 10px 7px 0;width:100%}
.grid .t{text-decoration:none}.grid .t:hover{text-decoration:underline}
.grid .t b,.dur th b{display:inline-block;min-width:34px;padding-right:6px;font-weight:500;
color:var(--quiet)}
.grid td a,.grid thead a{display:flex;justify-content:center;align-items:center;width:26px;
height:34px;position:relative;text-decoration:none}
.grid thead a{height:28px}
.grid td a:hover{background:var(--tag);border-radius:6px}
.grid td a:hover::after,.grid td a:focus-visible::after{content:attr(aria-label);
position:absolute;
bottom:100%;right:-8px;z-index:4;background:var(--fg);color:var(--bg);font-size:12px;
line-height:18px;padding:3px 8px;border-radius:5px;white-space:nowrap;max-width:480px;
overflow:hidden;
text-overflow:ellipsis}
.grid .am{border-left:1px dashed var(--half)}
.grid .now{text-align:left;padding:7px 0 7px 12px;white-space:nowrap;max-width:170px;
overflow:hidden;
text-overflow:ellipsis}.grid thead .now{padding:0 0 0 12px}
.grid caption{padding-bottom:8px}
.np h2{margin-bottom:10px}
.np li{display:grid;grid-template-columns:minmax(34px,max-content) minmax(0,1fr);gap:0 8px;
padding:8px 0;font-size:13px;
line-height:19px;border-bottom:1px solid var(--line)}
.np li:first-child{padding-top:0}.np li:last-child{border:0}.np b{font-weight:500;
color:var(--quiet)}
.np li.wide{grid-template-columns:minmax(0,1fr)}
.open{border:1px solid var(--line);border-radius:10px;margin-top:12px}
.open>header{display:flex;flex-wrap:wrap;gap:4px 10px;align-items:center;padding:11px 16px;
border-bottom:1px solid var(--line)}
.open>header p{margin-left:auto;color:var(--quiet);font-size:12.5px}
.open>header h3{min-width:0}.open>header h3 svg.m{margin-right:10px}
.open>header h3 b{font-weight:600}
.stale{margin-top:12px;font-size:13px;color:var(--quiet)}
.in{display:grid;grid-template-columns:minmax(0,1fr);gap:10px;padding:14px 16px 16px}
.in dl{display:flex;flex-wrap:wrap;gap:2px 24px;font-size:12.5px}
.in dl div{display:flex;gap:6px;align-items:baseline;min-width:0}.in dt{color:var(--quiet);
flex:none}
.cr{border-bottom:1px solid var(--line)}.cr:last-of-type{border:0}
.cr summary{display:flex;gap:8px;align-items:center;padding:9px 0}
.cr summary b{min-width:30px;font-weight:500;color:var(--quiet);flex:none}
.cr summary .q{margin-left:auto;text-align:right;font-size:12.5px;flex:none;max-width:45%}
.cr summary:hover .ct{text-decoration:underline;text-underline-offset:3px;
text-decoration-color:var(--edge)}
.cr .in{padding:4px 0 20px 54px}
.res td,.res th{padding-top:4px;padding-bottom:4px}
.res td:nth-child(3){white-space:nowrap;text-align:right}
.res td:nth-child(n+4){color:var(--quiet);white-space:nowrap}
.res td:nth-child(2){width:60%}
.res tr:target>*{background:var(--you2)}
.res .tail td{padding:0 0 10px;white-space:normal;color:var(--fg)}
.res tr:has(+.tail)>*{border-bottom:0}.res pre{font-size:12px;white-space:pre-wrap;
overflow-wrap:anywhere}
body:has(#only-open:target) .res .fine{display:none}
body:has(#only-open:target) .cr::details-content{content-visibility:visible;display:block;
height:auto}
.ev{display:grid;grid-template-columns:44px 16px minmax(0,1fr);gap:0 14px;padding:7px 0;
position:relative}
.ev::before{content:"";position:absolute;left:65.5px;top:0;bottom:0;width:1px;
background:var(--line)}
.ev>svg.m{position:relative;margin-top:2.5px;background:var(--bg);box-shadow:0 0 0 3px var(--bg)}
.ev time{color:var(--quiet);font-size:12.5px;text-align:right}
.ev .d{font-size:13px;color:var(--quiet);margin-top:1px}
.ev blockquote{padding:3px 0}
.ev:target>div{background:var(--you2);box-shadow:0 0 0 6px var(--you2);border-radius:2px}
.day{font-size:12.5px;color:var(--quiet);padding:12px 0 4px;font-weight:500}
.diff{margin:8px 0;padding:8px 0}.diff>*{display:block;padding:0 12px;text-decoration:none;
width:max-content;min-width:100%}
.diff del{background:var(--no2);color:var(--no)}.diff ins{background:var(--ok2);color:var(--ok)}
.changes{font-size:13px;margin-top:4px}.changes li{padding:1px 0}
body:has(#tl-turns:target) .ev:not(.ve),body:has(#tl-people:target) .ev:not(.pe),
body:has(#tl-agents:target) .ev:not(.ag),body:has(#tl-contract:target) .ev:not(.co){display:none}
.paths{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 16px;font-size:13px;
margin-bottom:16px}.paths>div{display:contents}.paths dt{color:var(--quiet)}
.ft .k{width:26px;padding-right:8px}.ft td,.ft th{padding-top:5px;padding-bottom:5px}
.dur{display:grid;grid-template-columns:minmax(0,1fr) 372px;gap:24px 48px;align-items:start}
.dur .bc{width:40%;min-width:80px;padding-top:11px}
.chart{width:100%;max-width:400px;font-size:11px;overflow:visible}.chart text{fill:var(--quiet)}
.rec{display:grid;grid-template-columns:1fr 1fr;gap:0 48px}
.rec dl>div{display:grid;grid-template-columns:104px minmax(0,1fr);gap:12px;padding:7px 0;
border-bottom:1px solid var(--line);font-size:13px}.rec dt{color:var(--quiet)}
.lim{max-width:1136px;columns:2;column-gap:48px;font-size:13px}
.lim li{break-inside:avoid;padding:0 0 8px 18px;position:relative}
.lim li::before{content:"–";position:absolute;left:0;color:var(--quiet)}
"""

_OPINIONS = """
.told{font-size:13px}.told p+p{margin-top:4px}.figure b{font-size:18px;font-weight:650}
.notes{margin-top:6px}.notes li{padding:0 0 2px 14px;position:relative;color:var(--quiet)}
.notes li::before{content:"–";position:absolute;left:0}
.dims{table-layout:fixed}.dims thead th:nth-child(1){width:20%}
.dims thead th:nth-child(2){width:22%}.dims thead th:nth-child(3){width:14%}
.dims .bc{padding-top:9px}.dims .bc svg{display:block;width:92%}
.voices{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:12px;
font-size:13px}.voices>div{background:var(--tint);border-radius:6px;padding:10px 12px}
.voices p+p{margin-top:4px}.voices li{display:flex;justify-content:space-between}
"""

_INDEX = """
.sum{padding:28px 0 0}.sum ul{display:flex;flex-wrap:wrap;gap:4px 24px;margin-top:6px;
font-size:13px}
.sum .pick{margin:10px 0 0 -9px}
.goals h2 svg.m{margin-right:6px;width:18px;height:18px;vertical-align:-3px}
.goals h2 small{font-weight:400;color:var(--quiet);font-size:1em;margin-left:4px}
.gt{table-layout:fixed}.gt td,.gt th{padding-top:9px;padding-bottom:9px}
.gt .k1{width:200px}.gt .k2{width:112px}.gt .k3{width:112px}.gt .k5{width:128px}
.gt th a,.gt th b{font-weight:600}.gt small{display:block;font-size:12.5px;color:var(--quiet);
font-weight:400}
.marks{display:flex;flex-wrap:wrap;gap:0 1px;align-items:center}.marks svg.m{width:14px;
height:18px}
.spark{width:72px;height:20px;display:block}
.gt .cmd{display:inline-block;padding:5px 10px;margin-top:4px;font-size:12.5px}
.gt td:last-child{text-align:right;white-space:nowrap}
"""

_NARROW = """
@media screen and (max-width:1020px){
.hero,.two,.dur,.rec{grid-template-columns:minmax(0,1fr)}.two{gap:32px}.lim{columns:1}}
@media screen and (max-width:720px){
.w{padding:0 16px}h1{font-size:22px;line-height:28px}section{margin-top:36px}
.top{position:static}.top .w{padding-top:10px;padding-bottom:10px}.top nav+nav{margin-left:0}
.hero{padding:18px 0}.facts{gap:2px 16px}.pick{margin-left:-9px}
.grid{table-layout:fixed}.grid thead th:first-child{width:0;font-size:0}
.grid thead .now,.grid td.now{display:none}
.grid tbody tr{position:relative;border-bottom:1px solid var(--line)}.grid tbody td{border:0;
padding-top:28px}
.grid tbody th{position:absolute;left:0;right:0;top:0;padding:7px 0 0;border:0;display:flex;
gap:6px;
align-items:baseline}
.grid .t{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.grid .am{border-left:0}.grid .am a{box-shadow:-1px 0 var(--half)}
.grid td a,.grid thead a{width:100%;height:28px}.grid td svg.m{width:14px;height:14px}
.grid:not(.many) :is(td,thead) a{justify-content:flex-start;padding-left:8px}
.grid.many thead th:not(:nth-child(5n+2)):not(:nth-last-child(2)) a{font-size:0}
.grid.many thead a{font-size:11px;justify-content:flex-end}.tall .np ul{columns:1}
.grid td a:hover::after,.grid td a:focus-visible::after{position:fixed;left:16px;right:16px;
bottom:16px;max-width:none;white-space:normal}
.open>header p{margin-left:0;width:100%}
.cr summary{flex-wrap:wrap}.cr summary .q{margin-left:54px;width:calc(100% - 54px);max-width:none;
text-align:left}
.cr .ct{flex:1;min-width:0}.cr .in{padding-left:0}
.res th:nth-child(n+4),.res td:nth-child(n+4){display:none}
.ev{grid-template-columns:40px 16px minmax(0,1fr);gap:0 10px}.ev::before{left:57.5px}
.ft thead{display:none}
.ft tr{display:grid;grid-template-columns:26px minmax(0,1fr) auto auto;padding:7px 0;
border-bottom:1px solid var(--line)}
.ft tr>*{border:0;padding:0 8px 0 0}.ft td:nth-child(n+5){grid-column:2/-1;font-size:12.5px}
.dur thead{display:none}.dur tbody tr{display:grid;grid-template-columns:minmax(0,1fr) auto;
padding:8px 0;border-bottom:1px solid var(--line)}.dur tbody tr>*{border:0;padding:0}
.dur .bc{grid-row:2;grid-column:1/-1;width:auto;padding-top:4px}.dur td:last-child{display:none}
.diff>*{width:auto;white-space:pre-wrap}
.dims thead{display:none}.dims tr{display:grid;grid-template-columns:minmax(0,1fr) auto;
padding:8px 0;border-bottom:1px solid var(--line)}.dims tbody tr>*{border:0;padding:0;width:auto}
.dims .bc{grid-row:2;grid-column:1/-1;padding-top:4px}
.dims td:last-child{grid-column:1/-1;padding-top:4px}
.gt colgroup,.gt thead{display:none}.gt tr{display:grid;grid-template-columns:minmax(0,1fr) auto;
gap:2px 12px;padding:9px 0;border-bottom:1px solid var(--line)}.gt tr>*{border:0;
padding:0!important}
.gt td:nth-child(2){grid-row:2;grid-column:1}.gt td:nth-child(3){grid-row:2;grid-column:2}
.gt td:nth-child(4){grid-row:3;grid-column:1/-1}.gt td:nth-child(5){grid-row:1;grid-column:2}}
"""

_PAPER = f"""
@media print{{@page{{margin:14mm}}:root{{color-scheme:light;{_LIGHT};--fg:#000}}
body{{font-size:10.5pt}}.top,.pick,.skip{{display:none}}.w{{max-width:none;padding:0}}
section{{margin-top:22px}}tr,li,figure{{break-inside:avoid}}
h2,summary,caption{{break-after:avoid}}
.paper{{display:block}}.two,.dur,.rec{{display:block}}.np{{margin-top:16px}}
.hero{{grid-template-columns:1fr 270px;gap:24px}}.fold::before{{display:none}}
details::details-content{{content-visibility:visible;display:block;height:auto}}
.res .fine{{display:none}}.cr .in{{padding-left:0}}.grid td a{{width:22px;height:26px}}
pre{{white-space:pre-wrap;overflow-wrap:anywhere}}
*{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}}}
"""

STYLE = (
    f":root{{color-scheme:light dark;{_LIGHT}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}"
    f"{_BASE}{_GOAL}{_OPINIONS}{_INDEX}{_NARROW}{_PAPER}"
)
