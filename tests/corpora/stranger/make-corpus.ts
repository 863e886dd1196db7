import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { docxOf, pdfOf } from "./office-files.ts";

export type StrangerFile = {
  /** Relative to the folder, with `/`, as spelled on disk. */
  readonly path: string;
  readonly bytes: Buffer;
  /** What a reader of text sees, or undefined for what no text reader takes. */
  readonly text: string | undefined;
};

const TEXTS = join(import.meta.dirname, "texts");

/** The folder of somebody who never thought of us: some hundred files, the same bytes at each call. */
export function strangerFiles(): StrangerFile[] {
  const written = readdirSync(TEXTS)
    .sort()
    .flatMap((name) => sectionsOf(readFileSync(join(TEXTS, name), "utf8")));
  return [...written, ...logs(), ...oddNames(), ...encodings(), ...offices(), ...copiesOf(written)];
}

/** Writes the files below a folder that is there. */
export function makeStrangerCorpus(folder: string): void {
  for (const { path, bytes } of strangerFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

const plain = (path: string, text: string): StrangerFile => ({
  path,
  bytes: Buffer.from(text, "utf8"),
  text,
});

/** A file a section: `=== path`, then its text. */
function sectionsOf(source: string): StrangerFile[] {
  return source
    .split(/^=== /m)
    .slice(1)
    .map((section) => {
      const end = section.indexOf("\n");
      return plain(section.slice(0, end), section.slice(end + 1));
    });
}

function logs(): StrangerFile[] {
  const minutes = Array.from({ length: 600 }, (_, index) => index);
  const upload = minutes.map((minute) => {
    const time = `${String(8 + Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
    const state = minute % 97 === 13 ? "WARN line dropped, crane running" : "INFO sent";
    return `2025-10-03 ${time}:00 upload ${state} batch=${minute * 7919 + 104729} bytes=${(minute * 4099) % 65536}`;
  });
  const access = minutes
    .slice(0, 200)
    .map(
      (minute) =>
        `192.168.40.${minute % 40} - - [03/Oct/2025:10:${String(minute % 60).padStart(2, "0")}:00] "GET /status HTTP/1.1" 200 ${minute * 13}`,
    );
  return [
    plain("logs/upload.log", `${upload.join("\n")}\n`),
    plain("logs/portal access.log", access.join("\r\n")),
  ];
}

const LONG_NAME = `notizen/Haus/${"was wir im Frühjahr auf keinen Fall vergessen dürfen ".repeat(4).trim()}.txt`;

const oddNames = (): StrangerFile[] => [
  plain("notizen/leer.txt", ""),
  plain(
    "notizen/Überfahrt nach Marlund.txt".normalize("NFC"),
    "Die Überfahrt nach Marlund dauert bei gutem Wind sieben Stunden. Vor der Einfahrt liegt eine Sandbank.\n",
  ),
  plain(
    "notizen/Schlüsselübergabe.txt".normalize("NFD"),
    "Die Schlüssel für das Museumsschiff gibt Frau Kapitän Elske Boysen am Vorabend aus. Bei ihr liegt auch der Plan der Rettungswesten.\n",
  ),
  plain("notizen/-wichtig.txt", "Der Code für das Tor ist 7731-B. Er gilt bis Silvester.\n"),
  plain(
    "notes/[draft] speech (v2).md",
    "# Speech for Henrike's 60th\n\nHenrike took over the yard from her father in 1998. She once towed a wedding party off a sandbank and charged them two bottles of wine.\n",
  ),
  plain(
    "notes/🎂 cake order.txt",
    "The cake comes from Bakery Tiede and serves forty. Pay €84 on collection.\n",
  ),
  plain(LONG_NAME, "Die Dahlien kommen Mitte Mai in die Erde. Der Rasenmäher steht bei Enno.\n"),
  plain(
    "notes/tide and time, one line.txt",
    Array.from(
      { length: 900 },
      (_, index) =>
        `high water ${String(index % 24).padStart(2, "0")}:${String((index * 25) % 60).padStart(2, "0")} at ${(1.4 + (index % 9) / 10).toFixed(1)} m`,
    ).join("; "),
  ),
];

function encodings(): StrangerFile[] {
  const bom =
    "Das Museumsschiff „Undine“ wurde 1907 in Ostersiel gebaut. Die Maschine stammt aus einem Schlepper.\r\nEintritt: 4 Euro.\r\n";
  const wide = "Lista de regalos: una brújula para Ida, un jersey para Ben.\n";
  const latin = "Bürgermeister Gröning eröffnet die Brücke am Süderdeich.\n";
  return [
    { path: "notizen/Museumsschiff.txt", bytes: Buffer.from(`\u{feff}${bom}`, "utf8"), text: bom },
    {
      path: "cuaderno/regalos.txt",
      bytes: Buffer.from(`\u{feff}${wide}`, "utf16le"),
      text: wide,
    },
    { path: "notizen/Brücke.txt", bytes: Buffer.from(latin, "latin1"), text: latin },
  ];
}

const offices = (): StrangerFile[] => [
  {
    path: "exports/Rechnung 5512.pdf",
    bytes: pdfOf("Rechnung Nr. 5512, Nordlack GmbH"),
    text: undefined,
  },
  {
    path: "exports/crane certificate.pdf",
    bytes: pdfOf("Certificate of the rope, crane 1"),
    text: undefined,
  },
  {
    path: "notes/contract Doyle.docx",
    bytes: docxOf("Draft contract with Tom Doyle"),
    text: undefined,
  },
  {
    path: "notizen/Chor/Programm.docx",
    bytes: docxOf("Programm des Sommerkonzerts"),
    text: undefined,
  },
];

const COPIES = [
  ["notes/router.md", "notes/router (copy).md"],
  ["notizen/Haus/Rezept Grünkohl.md", "notizen/Chor/Rezept Grünkohl.md"],
  ["mails/2025-08-14 storm damage.txt", "exports/2025-08-14 storm damage.txt"],
] as const;

const copiesOf = (written: readonly StrangerFile[]): StrangerFile[] =>
  COPIES.map(([from, to]) => {
    const original = written.find(({ path }) => path === from);
    if (original === undefined) throw new Error(`${from} is in no file of texts/`);
    return { ...original, path: to };
  });

if (import.meta.filename === process.argv[1]) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("make-corpus.ts FOLDER: name the folder to write to");
  mkdirSync(folder, { recursive: true });
  makeStrangerCorpus(folder);
}
