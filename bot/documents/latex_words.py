"""The words of LaTeX that are not symbols of pylatexenc, and the signs that stand for powers, indices and accents."""

SUPERSCRIPTS = dict(zip("0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW′*",
                        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ′*", strict=True)) | {"∘": "°"}
SUBSCRIPTS = dict(zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
SCRIPTS = "".join({*SUPERSCRIPTS.values(), *SUBSCRIPTS.values()} - {"*"})

SYMBOLS = {"implies": "⇒", "impliedby": "⇐", "iff": "⇔", "ne": "≠", "leqslant": "≤", "geqslant": "≥", "degree": "°",
           "gets": "←", "triangle": "△", "euro": "€", "prime": "′", "ast": "*", "star": "*", "sim": "~", "cdots": "…",
           "vdots": "⋮", "ldots": "…", "dots": "…", "lVert": "‖", "rVert": "‖", "Vert": "‖", "lvert": "|", "rvert": "|",
           "vert": "|", "mid": "|", "lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "checkmark": "✓",
           "parallel": "∥", "varnothing": "∅", "bmod": "mod", "colon": ":", "And": "&", "Re": "Re", "Im": "Im",
           "longrightarrow": "→", "Longrightarrow": "⇒", "longleftarrow": "←", "Longleftrightarrow": "⇔", "xrightarrow": "→",
           "iint": "∬", "vartriangle": "△", "square": "□", "cdot": "·", "complement": "∁", "land": "∧", "lor": "∨",
           "lnot": "¬", "backslash": "\\"}
FUNCTIONS = {"sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log", "lg",
             "exp", "det", "dim", "ker", "deg", "arg", "gcd", "pgcd", "ppcm", "lcm", "card", "max", "min", "sup", "inf", "lim",
             "limsup", "liminf", "mod", "Re", "Im"}
BIG = {"∑", "∏", "∫", "∬", "∭", "∮", "⋃", "⋂", "lim", "max", "min", "sup", "inf"}
UNPADDED = set("∀∃∂∇∞√∛∜∑∏∐∫∬∭∮∠∡∢∅△¬…⋮⋯⟨⟩⌊⌋⌈⌉‖°ℏℓ∴∵⋃⋂∁□✓")
ACCENTS = {"vec": "\u20d7", "overrightarrow": "\u20d7", "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304",
           "overline": "\u0305", "dot": "\u0307", "ddot": "\u0308", "tilde": "\u0303", "widetilde": "\u0303",
           "underline": "\u0332"}
PLAIN_GROUP = {"mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathcal", "mathscr", "mathfrak", "boldsymbol", "bm", "pmb",
               "boxed", "cancel", "bcancel", "underbrace", "overbrace", "operatorname", "mathop", "mathrel", "mathbin",
               "mathord", "fbox", "smash", "displaylines"}
TEXT_GROUP = {"text", "textbf", "textit", "textrm", "textsf", "texttt", "mbox", "hbox", "unit", "textnormal", "emph"}
DROPPED = {"displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "left", "right", "middle", "big", "Big", "bigg",
           "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr", "Biggl", "Biggr", "bigm", "rm", "bf", "it", "hline",
           "nonumber", "notag", "allowbreak", "par", "!"}
WITH_ONE_LOST = {"label", "phantom", "hphantom", "vphantom", "hspace", "vspace", "color", "textcolor", "mspace"}
SPACES = {",", ";", ":", " ", ">", "quad", "qquad", "enspace", "thinspace", "space", "hfill", "\n", "\t", "/"}
DOUBLE = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
FENCES = {"pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||", "Vmatrix": "‖‖",
          "matrix": "[]", "array": "[]", "smallmatrix": "[]"}
