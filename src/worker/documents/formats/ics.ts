import { countedOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { componentsOf, dateOf, decodeUnfolded, unescapeValue } from "./content-lines.ts";
import type { Component, Property } from "./content-lines.ts";

/** The properties of an appointment or a task that are written, in this order, with their labels. */
const FIELDS: readonly (readonly [property: string, name: string])[] = [
  ["DTSTART", "Start"],
  ["DTEND", "End"],
  ["DUE", "Due"],
  ["DURATION", "Duration"],
  ["RRULE", "Repeats"],
  ["RDATE", "Also on"],
  ["EXDATE", "Not on"],
  ["RECURRENCE-ID", "Instead of"],
  ["LOCATION", "Location"],
  ["STATUS", "Status"],
  ["COMPLETED", "Completed"],
  ["PRIORITY", "Priority"],
  ["CATEGORIES", "Categories"],
  ["ORGANIZER", "Organizer"],
  ["ATTENDEE", "Attendees"],
  ["CONTACT", "Contact"],
  ["URL", "URL"],
  ["COMMENT", "Comment"],
  ["DESCRIPTION", "Description"],
];
const DATES = new Set(["DTSTART", "DTEND", "DUE", "RDATE", "EXDATE", "RECURRENCE-ID", "COMPLETED"]);
const PERSONS = new Set(["ORGANIZER", "ATTENDEE"]);
/** Components of a calendar that become entries of the text. */
const ENTRIES = new Set(["VEVENT", "VTODO", "VJOURNAL"]);

/** Reads a calendar: each appointment, task or note under its title, one line per property. */
export function readIcs(bytes: Buffer, limits: TextLimits): Extraction {
  const builder = openTextBuilder(limits);
  const { text, encoding } = decodeUnfolded(bytes, limits.encoding);
  const entries = componentsOf(text, ENTRIES, countEntries("lines", limits));
  if (!/^BEGIN:VCALENDAR/im.test(text)) {
    throw new NoText("FILE_FORMAT_INVALID", "is no calendar: export it anew as .ics.");
  }
  for (const entry of entries)
    builder.add(`## ${titleOf(entry)}\n\n${linesOf(entry).join("\n")}\n\n`);
  const attachments = entries.reduce((sum, entry) => sum + (entry.get("ATTACH")?.length ?? 0), 0);
  const title = /^X-WR-CALNAME[^:\r\n]{0,200}:(.*)/im.exec(text)?.[1];
  const metadata = {
    ...(title === undefined ? {} : { title: unescapeValue(title) }),
    ...(encoding === "utf-8" ? {} : { encoding }),
    entries: entries.length,
  };
  return { ...builder.finish(metadata), ...countedOut({ attachments }) };
}

const MOST_INVITED = 100;

/** The appointments and tasks of a calendar in a mail, one paragraph each; "" if there are none. */
export function invitationText(bytes: Buffer): string {
  const { text } = decodeUnfolded(bytes, undefined);
  const method = /^METHOD:(\w{1,40})/m.exec(text)?.[1];
  const said = method === undefined ? [] : [`Method: ${method}`];
  return componentsOf(text, ENTRIES, () => undefined)
    .slice(0, MOST_INVITED)
    .map((entry) => [...said, `Summary: ${titleOf(entry)}`, ...linesOf(entry)])
    .map((lines) => lines.map((line) => line.replaceAll(/\s+/g, " ")).join("\n"))
    .join("\n\n");
}

const titleOf = (entry: Component): string =>
  unescapeValue(entry.get("SUMMARY")?.[0]?.value ?? "(no title)")
    .replaceAll(/\s+/g, " ")
    .trim();

const linesOf = (entry: Component): string[] =>
  FIELDS.flatMap(([name, label]) => {
    const values = (entry.get(name) ?? [])
      .map((property) => valueOf(name === "DTEND" ? lastDay(property, entry) : property))
      .filter(Boolean);
    return values.length === 0 ? [] : [`${label}: ${values.join(", ")}`];
  });

/** For whole days, DTEND is the day after the last one: replaces it by the last one. */
function lastDay(end: Property, entry: Component): Property {
  const [from = "", to] = [entry.get("DTSTART")?.[0]?.value, end.value];
  if (!/^\d{8} \d{8}$/.test(`${from} ${to}`) || to <= from) return end;
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(to) ?? [];
  const last = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) - 1));
  return { ...end, value: last.toISOString().slice(0, 10) };
}

function valueOf({ name, parameters, value }: Property): string {
  if (DATES.has(name)) {
    const zone = /;TZID="?([^":;]*)/i.exec(parameters)?.[1];
    const dates = value.split(",").map(dateOf).join(", ");
    return zone === undefined ? dates : `${dates} (${zone})`;
  }
  if (!PERSONS.has(name)) return unescapeValue(value).trim();
  const person = /;CN=(?:"([^"]*)"|([^:;]*))/i.exec(parameters);
  const address = value.replace(/^mailto:/i, "");
  const called = person?.[1] ?? person?.[2] ?? "";
  const answer = /;PARTSTAT=([\w-]+)/i.exec(parameters)?.[1];
  const who = called === "" || called === address ? address : `${called} <${address}>`;
  return answer === undefined ? who : `${who} (${answer.toLowerCase()})`;
}
