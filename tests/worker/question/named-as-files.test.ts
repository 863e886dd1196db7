import { describe, expect, test } from "@jest/globals";
import { findNamedFiles } from "../../../src/worker/question/classify-question.ts";
import { knownFilesOf } from "../../../src/worker/question/known-files.ts";

const EXTENSIONS = [".md", ".txt", ".json"];
const KNOWN = [
  "allowed/corpus/rail.md",
  "allowed/corpus/README.md",
  "allowed/corpus/NOTICE.md",
  "allowed/corpus/quarterly plan 2026.md",
  "allowed/corpus/plan 2026.md",
  "allowed/corpus/my travels/by bike.md",
  "allowed/corpus/l'annexe.txt",
  "allowed/corpus/twin.md",
  "allowed/scratch/AUTHORS.md",
  "allowed/scratch/AUTHORS.txt",
];

async function namedIn(
  question: string,
  paths: readonly string[] = [],
): Promise<readonly string[]> {
  return (await findNamedFiles(question, EXTENSIONS, async () => knownFilesOf(paths))).names;
}

type Case = readonly [question: string, ...names: string[]];

const ASKED: Readonly<Record<string, readonly Case[]>> = {
  English: [
    ["Read LICENSE", "LICENSE"],
    ["READ LICENSE, please", "LICENSE"],
    ["Please open the Makefile and tell me its targets", "Makefile"],
    ["Summarise our NOTICE.", "NOTICE"],
    ["Can you summarize what CONTRIBUTING asks for?", "CONTRIBUTING"],
    ["What does README say about refunds?", "README"],
    ["What does the Dockerfile contain?", "Dockerfile"],
    ["What's in .secrets-of-mine?", ".secrets-of-mine"],
    ["What is written in LICENSE-MIT?", "LICENSE-MIT"],
    ["Give me an overview of report.xyz", "report.xyz"],
    ["Who signed the file minutes.xyz?", "minutes.xyz"],
    ["What about a document called deed.qq?", "deed.qq"],
    ["Quote corpus/LICENSE", "corpus/LICENSE"],
    ["Read the foo.xyz, then bar.xyz", "foo.xyz", "bar.xyz"],
    ["Show me journal.2024-05", "journal.2024-05"],
  ],
  German: [
    ["Lies LICENSE", "LICENSE"],
    ["Lies mir bitte LICENSE vor", "LICENSE"],
    ["Kannst du die LICENSE-Datei lesen?", "LICENSE"],
    ["Bitte Makefile zusammenfassen", "Makefile"],
    ["Fasse mir NOTICE in drei Sätzen zusammen", "NOTICE"],
    ["Was steht in LICENSE?", "LICENSE"],
    ["Was in bericht.xyz steht, will ich wissen.", "bericht.xyz"],
    ["Was sagt die README zu Erstattungen?", "README"],
    ["Worum geht es in protokoll.xyz?", "protokoll.xyz"],
    ["Öffne .geheim", ".geheim"],
    ["O\u0308ffne .geheim", ".geheim"],
    ["Gib mir den Inhalt von notiz.qq", "notiz.qq"],
    ["Wer hat die Datei vertrag.xyz unterschrieben?", "vertrag.xyz"],
    ["Was gibt LIESMICH vor?", "LIESMICH"],
    ["Wann, laut »Plan im Hafen.txt«?", "Plan im Hafen.txt"],
  ],
  French: [
    ["Lis LICENSE", "LICENSE"],
    ["Lisez donc NOTICE et résumez-le", "NOTICE"],
    ["Peux-tu lire rapport.xyz ?", "rapport.xyz"],
    ["Que dit LICENSE ?", "LICENSE"],
    ["Qu’est-ce que dit README ?", "README"],
    ["Qu'y a-t-il dans le Makefile ?", "Makefile"],
    ["Que contient bilan.xyz ?", "bilan.xyz"],
    ["Résume l'README en trois lignes", "README"],
    ["Ouvre le fichier .secret", ".secret"],
    ["De quoi parle notes.xyz ?", "notes.xyz"],
    ["Combien coûte le billet selon tarifs.xyz ?", "tarifs.xyz"],
  ],
  Spanish: [
    ["Lee LICENSE", "LICENSE"],
    ["Léeme NOTICE, por favor", "NOTICE"],
    ["¿Puedes leer informe.xyz?", "informe.xyz"],
    ["¿Qué dice LICENSE sobre la garantía?", "LICENSE"],
    ["¿Qué pone en actas.xyz?", "actas.xyz"],
    ["¿Qué hay en el Makefile?", "Makefile"],
    ["Resume Dockerfile en tres líneas", "Dockerfile"],
    ["Abre .secreto", ".secreto"],
    ["¿De qué trata README?", "README"],
    ["Muéstrame el archivo notas.xyz", "notas.xyz"],
  ],
  others: [
    ["Leggi LICENSE", "LICENSE"],
    ["Leia NOTICE", "NOTICE"],
    ["Lees LICENSE", "LICENSE"],
    ["READMEを要約して", "README"],
    ["LICENSEには何が書いてありますか", "LICENSE"],
  ],
};

describe.each(Object.entries(ASKED))("what a reading verb points at in %s", (_, rows) => {
  test.each(rows)("%s", async (question, ...names) => {
    expect(await namedIn(question)).toEqual(names);
  });
});

describe("quotes and paths name a file without a verb, and so do endings of files", () => {
  test.each<Case>([
    ['Is the fare in "tariff.xyz"?', "tariff.xyz"],
    ["Is the fare in “my tariff.xyz”?", "my tariff.xyz"],
    ["Is the fare in «LICENSE» or in `.secret`?", "LICENSE", ".secret"],
    ["Is it by ./notes or ../notes or ~/notes?", "./notes", "../notes", "~/notes"],
    ["Is root in /etc/passwd?", "/etc/passwd"],
    ["Are trains in allowed/corpus/.env?", "allowed/corpus/.env"],
    ["Is the password by .env.local or .ssh/id_rsa?", ".env.local", ".ssh/id_rsa"],
    ["Who wrote report.pdf and src/index.js?", "report.pdf", "src/index.js"],
    ["Is the port by data.yaml 80?", "data.yaml"],
    ["Ist main.c länger als util.h?", "main.c", "util.h"],
  ])("%s", async (question, ...names) => {
    expect(await namedIn(question)).toEqual(names);
  });
});

describe("a file that is known", () => {
  test.each<Case>([
    ["Is it explained in README?", "README.md"],
    ["Read README", "README.md"],
    ["Read AUTHORS", "AUTHORS"],
    ["How often by rail.mdd?", "rail.mdd"],
    ["How often by rial.mdd?"],
    ["When, by quarterly plan 2026.md?", "quarterly plan 2026.md"],
    ["When, by Quaterly   Plan 2026.md?", "Quaterly Plan 2026.md"],
    ["When, by the plan 2026.md?", "plan 2026.md"],
    ["What is asked in my travels/to, my travels/by bike.md?", "my travels/by bike.md"],
    ["Tell me of (my travels/by bike.md)", "my travels/by bike.md"],
    ["Tell me of corpus/my travels/by bike.md", "corpus/my travels/by bike.md"],
    ["Que dit l'annexe.txt ?", "l'annexe.txt"],
    ["Que dit l'index.md ?", "index.md"],
    ["Read corpus/rail", "corpus/rail"],
    ["Summarize corpus/", "corpus/"],
    ["How often by corpus/rail?"],
    ["Read elsewhere/rail"],
  ])("%s", async (question, ...names) => {
    expect(await namedIn(question, KNOWN)).toEqual(names);
  });

  test("lets a product's name stand for it, which is none otherwise", async () => {
    const question = "What does Node.js need by .NET and Vue.js?";
    expect(await namedIn(question)).toEqual([]);
    expect(await namedIn(question, ["allowed/Node.js"])).toEqual(["Node.js"]);
  });

  test("is one of few from which the same names are found again", async () => {
    const question = "Compare quarterly plan 2026.md with README and rail.mdd in corpus/twin.xyz";
    const all = async () => knownFilesOf(KNOWN);
    const { names, knownFiles } = await findNamedFiles(question, EXTENSIONS, all);
    expect(names).toEqual(["quarterly plan 2026.md", "README.md", "rail.mdd"]);
    const few = async () => knownFilesOf(knownFiles);
    expect(await findNamedFiles(question, EXTENSIONS, few)).toMatchObject({ names, knownFiles });
    expect(knownFiles).toHaveLength(3);
  });
});

test.each([
  "How often do trains run?",
  "Was kostet es am 3.4. um 9:30, z. B. 1.250,00 €?",
  "Read ../../etc/passwd",
  "Is v2.3.1 newer than 10.0.2?",
])("the files are not looked through for: %s", async (question) => {
  const unasked = async () => {
    throw new Error("the files were looked through");
  };
  await expect(findNamedFiles(question, EXTENSIONS, unasked)).resolves.toBeDefined();
});

const NO_FILES = [
  "Read the release notes of v2.3.1 and 10.0.2, then of 1.0.0-beta.2",
  "Open 24/7 and/or on 3/4/2024 between 9.30 and 17.15?",
  "Summarize how fast it is in km/h and m/s over TCP/IP",
  "Summarize what Node.js, .NET, ASP.NET, Vue.js and llama.cpp have in common",
  "Show what the U.S. and the E.U. agreed at 5 p.m., e.g. by J. R. R. Tolkien, i.e. by Ph.D. theses",
  "What does example.com say, or www.example.org/page.md, or https://example.net/a/b.txt?",
  "Read what ann@example.md wrote to bob@example.com",
  "What does the client/server and input/output part say?",
  "Read the notice about the license, and the changes by the authors",
  'What does "and/or" mean, and "24/7", and "e.g."?',
  "Summarize all .txt and *.md files of the .com domain",
  "What does GET /api/tags return, and the /login page?",
  "Was sagt §3 Abs.2 Nr.5 BGB, d.h. i.d.R. o.g. Regel u.a. zu S.A. und Co.KG?",
  "Lies, was z.B. auf spiegel.de zu 1.250,00 € und 2,5 km/h steht",
  "Fasse zusammen, was St.Gallen und Dr.med. Meier u./o. Prof.Dr.Huber sagen",
  "Lis p. ex. ce que dit la S.N.C.F. de 1 250,00 € et/ou du 12/03/2024 à 9h30",
  "Que dit J.-C. Martin, c.-à-d. M. Martin, etc. sur lemonde.fr ?",
  "Lee lo que dice EE.UU., p.ej. el Sr. Pérez, de 1.250,00 € y/o 3/4 a las 5 p.m.",
  "¿Qué dice el art.5 de la S.A. en elpais.com?",
  "Show 10.0.0.0/8, 192.168.0.1/24 and 3.5mm of 2.5GB",
  "Read the rules.Then answer. What does Acme.Inc say?",
];

test.each(NO_FILES)("no file is named: %s", async (question) => {
  expect(await namedIn(question)).toEqual([]);
  expect(await namedIn(question, KNOWN)).toEqual([]);
});
