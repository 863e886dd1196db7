import { expect, test } from "@jest/globals";
import { findDates } from "../../../../src/worker/text/figures/dates.ts";
import { findCalendarWords } from "../../../../src/worker/text/figures/calendar.ts";

const offersOf = (text: string): string[] =>
  findCalendarWords(text).flatMap(({ offers }) => offers);

test.each([
  ...["Mondays", "montags", "Lundi", "lunes", "月曜日"].map((name) => [name, "w:1"]),
  ...["Tuesday", "Dienstag", "mardi", "martes", "火曜"].map((name) => [name, "w:2"]),
  ...["Wednesday", "Mittwoch", "mercredi", "miércoles", "水曜"].map((name) => [name, "w:3"]),
  ...["Thursday", "Donnerstag", "jeudi", "jueves", "木曜"].map((name) => [name, "w:4"]),
  ...["Friday", "Freitag", "vendredi", "viernes", "金曜"].map((name) => [name, "w:5"]),
  ...["Saturday", "Samstag", "Sonnabend", "samedi", "sábado"].map((name) => [name, "w:6"]),
  ...["Sunday", "Sonntag", "dimanche", "domingo", "日曜"].map((name) => [name, "w:7"]),
  ...["Mon 4", "Mo. 4", "Mo–Fr", "Mon-Fri"].map((name) => [name, "w:1"]),
  ...["| Mi |", "Tag: Mi | Dauer: 70 min", "- Mi: zu", "mer. 19"].map((name) => [name, "w:3"]),
  ...["Mo bis Fr: 8 Uhr", "Mon to Fri", "Ven. 19", "vie. 3", "Tag: Fr"].map((name) => [
    name,
    "w:5",
  ]),
  ...["Fri 10", "Fr., 10", "Thurs 9", "Sat 1", "Sun, 2"].map((name) => [
    name,
    `w:${name.startsWith("F") ? 5 : name.startsWith("T") ? 4 : name.startsWith("Sa") ? 6 : 7}`,
  ]),
  ...["weekdays", "working days", "werktags", "en semaine", "laborables", "平日"].map((name) => [
    name,
    "w:workdays",
  ]),
  ...["weekend", "Wochenende", "week-end", "fines de semana", "週末"].map((name) => [
    name,
    "w:weekend",
  ]),
  ...["daily", "every day", "täglich", "jeden Tag", "tous les jours", "quotidien"].map((name) => [
    name,
    "w:daily",
  ]),
  ...["todos los días", "a diario", "diaria", "毎日"].map((name) => [name, "w:daily"]),
])("%s is a day of the week, or several", (name, offer) => {
  expect(offersOf(name)).toContain(offer);
});

test.each(["Do it again", "So we left", "Di Matteo", "Tag: Solar | Dauer", "Mar 3", "sam 3"])(
  "%s names no day of the week",
  (text) => {
    expect(offersOf(text).filter((offer) => offer.startsWith("w:"))).toEqual([]);
  },
);

const MONTHS = [
  "January Januar janvier enero",
  "February Februar février febrero",
  "March März mars marzo",
  "April avril abril",
  "May mai mayo",
  "June Juni juin junio",
  "July Juli juillet julio",
  "August août agosto",
  "September septembre septiembre",
  "October Oktober octobre octubre",
  "November novembre noviembre",
  "December Dezember décembre diciembre",
].flatMap((names, at) => names.split(" ").map((name) => [name, String(at + 1).padStart(2, "0")]));

test.each(MONTHS)("%s is a month, with a day and without", (name = "", month = "") => {
  expect(offersOf(`in ${name}`)).toContain(`M:${month}`);
  const [date] = findDates(`on 7 ${name} 2025`);
  expect(date?.offers).toContain(`d:2025-${month}-07`);
});
