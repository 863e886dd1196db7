import { append } from "../../../shared/group-by.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";

type Node = {
  readonly name: string;
  /** Texts of its child elements by name, in order. */
  readonly parts: Map<string, string[]>;
  readonly settings: Map<string, string>;
  text: string;
  /** Whether its text ends with a structure, such as a fraction, which needs a blank before the next letter. */
  isAfterPart: boolean;
};

const nodeOf = (name: string): Node => ({
  name,
  parts: new Map(),
  settings: new Map(),
  text: "",
  isAfterPart: false,
});

/** Reads a formula of Office as one line of text: `x^2`, `(a+b)/c`, `√(x)`, `∑_(k=0)^n a_k`. */
export function openFormula(): XmlVisitor & { text(text: string): void; finish(): string } {
  const open: Node[] = [nodeOf("oMath")];
  let settings = 0;
  let isText = false;
  return {
    open(name: string, attributes: XmlAttributes) {
      isText = name === "t";
      if (name.endsWith("Pr")) settings += 1;
      else if (settings > 0) open.at(-1)?.settings.set(name, attributes["val"] ?? "");
      else open.push(nodeOf(name));
    },
    text(text) {
      const node = open.at(-1);
      if (isText && node !== undefined) node.text += text;
    },
    close(name: string) {
      isText = false;
      if (name.endsWith("Pr")) settings -= 1;
      if (name.endsWith("Pr") || settings > 0) return;
      const node = open.pop();
      const outer = open.at(-1);
      if (node === undefined || outer === undefined) return;
      const written = write(node);
      append(outer.parts, name, written);
      const isPart = name !== "r" && name !== "t";
      const isTight = !(isPart || outer.isAfterPart) || !needsBlank(outer.text, written);
      outer.text += isTight ? written : ` ${written}`;
      if (written !== "") outer.isAfterPart = isPart;
    },
    finish: () => (open[0]?.text ?? "").replaceAll(/\s+/g, " ").trim(),
  };
}

const needsBlank = (one: string, other: string): boolean =>
  /[\p{L}\p{N}]$/u.test(one) && /^[\p{L}\p{N}√∑∏∫]/u.test(other);

/** Adds brackets, unless the text is one word or number, or has them. */
const group = (text: string): string =>
  /^[\p{L}\p{N}.,∞′]*$/u.test(text) || /^\([^()]*\)$/.test(text) ? text : `(${text})`;

const writeScript = (mark: "^" | "_", text: string): string =>
  text === "" ? "" : `${mark}${group(text)}`;

function write(node: Node): string {
  const part = (name: string): string => node.parts.get(name)?.[0]?.trim() ?? "";
  const all = (name: string): readonly string[] => node.parts.get(name) ?? [];
  const setting = (name: string, usual: string): string => node.settings.get(name) ?? usual;
  const e = part("e");
  const [sub, sup] = [writeScript("_", part("sub")), writeScript("^", part("sup"))];
  switch (node.name) {
    case "f":
      return setting("type", "bar") === "noBar"
        ? `(${part("num")} ¦ ${part("den")})`
        : `${group(part("num"))}/${group(part("den"))}`;
    case "sSub":
    case "sSup":
    case "sSubSup":
      return `${/^\p{L}\p{M}*$|^[\p{N}.]+$/u.test(e) ? e : group(e)}${sub}${sup}`;
    case "sPre":
      return `${sub}${sup} ${e}`.trim();
    case "rad":
      return `${part("deg")}√(${e})`;
    case "nary":
      return `${setting("chr", "∫")}${sub}${sup} ${e}`;
    case "d":
      return `${setting("begChr", "(")}${all("e").join(setting("sepChr", "|"))}${setting("endChr", ")")}`;
    case "func":
      return `${part("fName")} ${e}`;
    case "limLow":
      return `${e}${writeScript("_", part("lim"))}`;
    case "limUpp":
      return `${e}${writeScript("^", part("lim"))}`;
    case "m":
      return `[${all("mr").join("; ")}]`;
    case "mr":
      return all("e").join(", ");
    case "eqArr":
      return all("e").join("; ");
    default:
      return node.text;
  }
}
