/** The signs that symbol fonts show instead of letters, by the code of the letter. */
const SYMBOL_20 =
  " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_A0 =
  "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ 〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

type Signs = Readonly<Record<number, string>>;

const FONTS: Readonly<Record<string, Signs>> = {
  symbol: {
    ...Object.fromEntries(Array.from(SYMBOL_20, (sign, at) => [0x20 + at, sign])),
    ...Object.fromEntries(Array.from(SYMBOL_A0, (sign, at) => [0xa0 + at, sign])),
  },
  wingdings: {
    ...{ 0x21: "✏", 0x28: "☎", 0x2a: "✉", 0x4a: "☺", 0x4c: "☹", 0x6c: "●", 0x6e: "■", 0x6f: "☐" },
    ...{ 0x71: "❑", 0x78: "☒", 0x9f: "•", 0xa7: "▪", 0xa8: "☐", 0xd8: "➢", 0xdf: "←", 0xe0: "→" },
    ...{ 0xe8: "➔", 0xf0: "⇨", 0xfb: "✘", 0xfc: "✔", 0xfd: "☒", 0xfe: "☑" },
  },
  "wingdings 2": {
    ...{ 0x4f: "✘", 0x50: "✔", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xa3: "☐" },
    ...{ 0x2a: "☐", 0x30: "☐", 0x97: "•" },
  },
  "wingdings 3": { 0x22: "↔", 0x74: "◀", 0x75: "▶", 0x7d: "▶" },
  webdings: { 0x61: "✔", 0x63: "☐", 0x67: "■", 0x6e: "●", 0x72: "✘" },
};

const signsOf = (font: string | undefined): Signs | undefined =>
  font === undefined ? undefined : FONTS[font.toLowerCase()];

/** Programs add this to codes of symbol fonts, which moves them to the private range. */
const PRIVATE = 0xf000;

/** The sign for a code in hexadecimal, as documents write it; undefined for an unknown one. */
export function symbolOf(font: string | undefined, letter: string): string | undefined {
  const code = Number.parseInt(letter, 16);
  const own = code >= PRIVATE ? code - PRIVATE : code;
  return (signsOf(font) ?? FONTS["symbol"])?.[own];
}

/** The text with the signs that the font shows. */
export function shownIn(font: string | undefined, text: string): string {
  const signs = signsOf(font) ?? (/[\uf020-\uf0ff]/.test(text) ? FONTS["symbol"] : undefined);
  if (signs === undefined) return text;
  return Array.from(text, (letter) => {
    const code = letter.charCodeAt(0);
    const own = code >= PRIVATE + 0x20 && code <= PRIVATE + 0xff ? code - PRIVATE : code;
    return own === 0x20 ? " " : (signs[own] ?? letter);
  }).join("");
}
