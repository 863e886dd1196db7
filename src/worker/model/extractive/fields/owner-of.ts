import { asName, NAME } from "./person-names.ts";

const VERB =
  "(?:will|must|has to|have to|needs? to|shall|should|is to|are to|offers? to|promises? to|agrees? to|takes? care|is responsible|muss|müssen|soll|sollen|wird|werden|übernimmt|kümmert)";

/** Where a task says whose it is, surest first; behind `doubtful` a common word may stand. Every repeat is bounded. */
const PLACES: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:[Oo]wner|[Rr]esponsible|[Aa]ssigned to|[Aa]ssignee|[Zz]uständig|[Vv]erantwortlich|[Ww]er)[:\s*_]{1,4}(?<who>${NAME})`,
    "u",
  ),
  new RegExp(String.raw`(?:→|->|=>)\s?(?<who>${NAME})`, "u"),
  new RegExp(String.raw`(?<![\p{L}\p{N}])@(?<who>[\p{L}\p{N}._-]{2,30})`, "u"),
  new RegExp(String.raw`\((?<who>${NAME})(?:[,;][^()]{1,40})?\)[.\s]*$`, "u"),
  new RegExp(String.raw`^[*_]{0,3}(?<doubtful>${NAME})[*_]{0,3}:`, "u"),
  new RegExp(
    String.raw`^[*_]{0,3}(?<doubtful>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},)? ${VERB}(?!\p{L})`,
    "u",
  ),
  new RegExp(
    String.raw`(?<=[\p{Ll},:;] )(?<who>${NAME}(?: (?:and|und|&) ${NAME})?)(?:, [^,]{1,40},|, (?:who|der|die))? ${VERB}(?!\p{L})`,
    "u",
  ),
  /(?<!\p{L})(?:The|the|Der|der|Die|die|Das|das) (?<who>(?:\p{Ll}{2,20} )?(?:treasurer|secretary|chair|cook|manager|board|committee|team|crew|technician|engineer|editor|author|auditor|auditors|members?|tenant|landlord|supplier|customer|contractor|Vorstand|Kassier|Leiter(?:in)?|Koch|Köchin|Mieter(?:in)?|Vermieter(?:in)?|Kundin|Kunde|Lieferant)) (?:will|must|has to|have to|shall|should|is to|are to|muss|müssen|soll|sollen|wird)/u,
];

/**
 * Who has to do a task, as it says; null where it names nobody.
 * @param known words of names that the document has elsewhere: a single word that opens a sentence is an owner only there
 */
export function ownerOf(text: string, known: ReadonlySet<string>): string | null {
  for (const place of PLACES) {
    const { who, doubtful } = place.exec(text)?.groups ?? {};
    const found = who ?? doubtful;
    if (found === undefined) continue;
    const names = found
      .split(/ (?:and|und|&) /)
      .map((name) => (/^\p{Lu}/u.test(name) ? asName(name) : name));
    const owners = names.flatMap((name) => (name === null ? [] : [name]));
    const isSure =
      doubtful === undefined || owners.every((name) => name.includes(" ") || known.has(name));
    if (owners.length === names.length && isSure) return owners.join(" and ");
  }
  return null;
}
