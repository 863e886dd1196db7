import { decodeBytes } from "../encoding.ts";
import type { Extraction } from "../extraction.ts";
import { countedOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import { componentsOf, dateOf, decodeUnfolded, unescapeValue } from "./content-lines.ts";
import type { Component, Property } from "./content-lines.ts";

/** The properties of a person or company that are written, in this order, with their labels. */
const FIELDS: readonly (readonly [property: string, name: string])[] = [
  ["NICKNAME", "Nickname"],
  ["ORG", "Organization"],
  ["TITLE", "Title"],
  ["ROLE", "Role"],
  ["TEL", "Phone"],
  ["EMAIL", "E-mail"],
  ["IMPP", "Messages"],
  ["ADR", "Address"],
  ["LABEL", "Address label"],
  ["BDAY", "Birthday"],
  ["ANNIVERSARY", "Anniversary"],
  ["X-ANNIVERSARY", "Anniversary"],
  ["X-ABDATE", "Date"],
  ["RELATED", "Related"],
  ["X-ABRELATEDNAMES", "Related"],
  ["LANG", "Language"],
  ["CATEGORIES", "Categories"],
  ["URL", "URL"],
  ["MEMBER", "Member"],
  ["NOTE", "Note"],
];
const CARDS = new Set(["VCARD"]);
/** Properties whose values have several parts. */
const STRUCTURED = new Set(["N", "ORG", "ADR"]);
/** Parameters about encoding or preference, which do not say what a value is for. */
const OF_WRITING = /^(?:pref|internet|voice|msg|x\d*|quoted-printable|base64|8bit|uri|text|date)$/i;

/** Reads cards of persons and companies (vCard 2.1 to 4.0): each under its name, one line per property. */
export function readVcf(bytes: Buffer, limits: TextLimits): Extraction {
  const builder = openTextBuilder(limits);
  const joined = Buffer.from(joinQuoted(bytes.toString("latin1")), "latin1");
  const { text, encoding } = decodeUnfolded(joined, limits.encoding);
  const cards = componentsOf(text, CARDS, countEntries("lines", limits));
  if (cards.length === 0) {
    throw new NoText("FILE_FORMAT_INVALID", "holds no card: export it anew as .vcf.");
  }
  for (const card of cards) builder.add(`## ${nameOf(card)}\n\n${linesOf(card).join("\n")}\n\n`);
  const countOf = (...names: readonly string[]): number =>
    cards.reduce((sum, card) => sum + names.flatMap((name) => card.get(name) ?? []).length, 0);
  return {
    ...builder.finish({ ...(encoding === "utf-8" ? {} : { encoding }), entries: cards.length }),
    ...countedOut({ pictures: countOf("PHOTO", "LOGO"), attachments: countOf("SOUND", "KEY") }),
  };
}

/** Joins lines of quoted-printable, which version 2.1 cuts behind "="; a blank that begins the next line belongs to the value. */
const joinQuoted = (text: string): string =>
  text.replaceAll(
    /^[^:\r\n]{0,200}QUOTED-PRINTABLE[^:\r\n]{0,200}:(?:.*=\r?\n)+/gim,
    (cut: string) => cut.replaceAll(/=\r?\n/g, ""),
  );

function nameOf(card: Component): string {
  const [family = "", given = "", more = "", before = "", after = ""] = partsOf(card.get("N")?.[0]);
  const formatted = card.get("FN")?.[0];
  const names = [
    formatted === undefined ? "" : valueOf(formatted),
    [before, given, more, family, after].filter(Boolean).join(" "),
    ...["ORG", "EMAIL", "TEL"].map((name) => partsOf(card.get(name)?.[0]).join(", ")),
  ];
  return (names.find((name) => name.trim() !== "") ?? "(no name)").replaceAll(/\s+/g, " ").trim();
}

const linesOf = (card: Component): string[] =>
  FIELDS.flatMap(([name, label]) =>
    (card.get(name) ?? []).flatMap((property) => {
      const value = valueOf(property);
      const kinds = [labelOf(property, card), ...kindsOf(property)].filter(Boolean).join(", ");
      return value === "" ? [] : [`${label}${kinds === "" ? "" : ` (${kinds})`}: ${value}`];
    }),
  );

/** The label that the owner gave a property through its group. Built-in labels have brackets, which go: `_$!<HomePage>!$_`. */
function labelOf({ group }: Property, card: Component): string {
  const label = card.get("X-ABLABEL")?.find((one) => group !== "" && one.group === group);
  return label === undefined ? "" : valueOf(label).replace(/^_\$!<(.*)>!\$_$/, "$1");
}

/** The kinds of a property: "TYPE=HOME,VOICE", or "HOME;VOICE" in version 2.1. */
const kindsOf = ({ parameters }: Property): string[] =>
  parameters
    .split(";")
    .filter((parameter) => !parameter.includes("=") || /^type=/i.test(parameter))
    .flatMap((parameter) =>
      parameter
        .replace(/^type=/i, "")
        .replaceAll('"', "")
        .split(","),
    )
    .map((kind) => kind.toLowerCase())
    .filter((kind) => kind !== "" && !OF_WRITING.test(kind));

function valueOf(property: Property): string {
  const { name, parameters } = property;
  const value = partsOf(property)
    .filter((part) => part !== "")
    .join(", ");
  if (!/^(?:BDAY|(?:X-)?ANNIVERSARY|X-ABDATE)$/.test(name)) return value.replace(/^mailto:/i, "");
  // A program that omits the year writes a placeholder year, and names it here.
  const omitted = /;X-APPLE-OMIT-YEAR=(\d{4})/i.exec(parameters)?.[1];
  const date = dateOf(value);
  return omitted !== undefined && date.startsWith(omitted) ? `-${date.slice(4)}` : date;
}

/** The decoded parts of a value; most values have one. */
function partsOf(property: Property | undefined): readonly string[] {
  if (property === undefined) return [];
  const { name, parameters, value } = property;
  const plain = /QUOTED-PRINTABLE/i.test(parameters)
    ? fromQuoted(value, /;CHARSET="?([\w-]+)/i.exec(parameters)?.[1])
    : value;
  const parts = STRUCTURED.has(name) ? plain.split(/(?<!\\);/) : [plain];
  const [cut, joint] = name === "NOTE" ? [/\r\n/g, "\n"] : [/\s*\n\s*/g, ", "];
  return parts.map((part) => unescapeValue(part).trim().replaceAll(cut, joint));
}

function fromQuoted(value: string, charset = "utf-8"): string {
  const bytes = value.replaceAll(/=([\dA-F]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return decodeBytes(Buffer.from(bytes, "latin1"), charset)?.text ?? value;
}
