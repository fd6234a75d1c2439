# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ways to save and load models, rules for names, and names."""

SAVED = {
    "plain": [],
    "for PyTorch": ["--pytorch"],
    "in half precision": ["--half"],
    "without variants": ["--skip-enum-variants"],
    "all together": ["--pytorch", "--half", "--skip-enum-variants"],
}

REMAPS = [
    [(r"^list\.", "layers.")],
    [(r"^list\.(\d+)\.", "l${1}."), (r"^l(\d+)\.", "layers.$1.")],
    [(r"\.weight$", ".w"), (r"\.bias$", ".b")],
    [(r"([a-z]+)\.([a-z]+)$", "$2.$1")],
    [(r"(?P<module>[a-z_]+)\.gamma$", "${module}_g")],
    [(r"^", "model.")],
    [(r"o", "0"), (r"0", "oo")],
    [(r"nothing", "something")],
    [(r"^linear\.(w)", "$1x."), (r"^array\.(\d)", "a$$$1")],
    [(r"(?i)^LINEAR", "lin")],
]

UNUSUAL_NAMES = [
    "\u00fcn\u00ef.\u0663.weight",
    "L\u00c4YER.1",
    "stra\u00dfe.\u017f.long",
    "K.kelvin",
    "\u0434\u043e\u043c.\u0414\u043e\u043c.a.b",
    "emoji\U0001F525.w",
    "tab\t.space .x y z",
    "_under.w1.w22",
    "e\u0301.combined",
    "$1.${2}.$$",
]
# None makes two of these names equal.
RULES_FOR_UNUSUAL_NAMES = [
    (r"\d", "D"), (r"\w", "W"), (r"\W", "-"), (r"\s", "S"), (r"\S+$", "S$0"), (r".", "${0}x"),
    (r"(?i)k", "Q"), (r"(?i)\u00e4", "Q"), (r"(?i)s", "Q"), (r"\x{e4}", "Q"), (r"(?U)w+", "Q"),
    (r"\p{L}", "L"), (r"\p{Lu}", "U"), (r"\p{Cyrillic}", "C"), (r"[[:alpha:]]", "A"), (r"[[:word:]]", "Q"),
    (r"[^a-z]", "n"), (r"[\d\s]", "Q"), (r"(?i:l)ayer|[\u00fc\u00ef]", "Q"), (r"\A_|2\z", "Q"),
    (r"^", "p"), (r"$", "s"), (r"x*", "-"), (r"(e)|(r)", "<$1$2>"), (r"\.", "$$"),
    (r"(?P<n>\w+)\.(?P<m>\w+)", "$m.$n"), (r"(?<n>\w+)\.", "$n-"),
    (r"(\w)", "${1}1"), (r"(\w)", "$0$0"), (r"(\w)", "$"), (r"(\w)", "${"), (r"(\w)", "$ 1"),
    (r"(\w)", "\\1"),
]

# Each list is a file whose index gaps are closed.
NAMES_WITH_INDICES = [
    ["a.0.w", "a.2.w", "a.4.w"], ["a.+1.w", "a.3.w"], ["a.007.w", "a.3.w", "a.1.w"], ["0.w", "5.w"],
    ["a.5", "a.9"], ["a.18446744073709551616.w", "a.3.w"], ["a.18446744073709551615.w", "a.3.w"],
    ["a.\u0663.w", "a.9.w"], ["a.-1.w", "a.4.w"], ["a..4.w", "a..9.w"], [".3.", ".5."], ["3", "7"],
    ["a.1.2.3", "a.4.2.3", "a.4.9.9"], ["a. 1.w", "a.5.w"], ["a.1_0.w", "a.20.w"], ["a.+.w", "a.0x1.w"],
    ["", "4."],
]

# Of burn-store 0.21.0; a file with any other is refused whole.
DTYPES_OF_BURN = {"BOOL", "U8", "I8", "I16", "F16", "BF16", "I32", "U32", "F32", "F64", "I64", "U64"}
