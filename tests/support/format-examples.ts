import {
  headingStyles,
  paragraph,
  run,
  wordTable,
  writeDocx,
  writeMail,
  writeMailbox,
  writeOdt,
  writePdf,
  writeXlsx,
  writeZip,
} from "./format-writers.ts";
import type { Drawn } from "./format-writers.ts";
import { shape, writeEpub, writeOpenDocument, writePptx } from "./package-writers.ts";

// The documents of examples/formats: a cable car and its offices in four languages. scripts/write-format-examples.js
// writes them.

type Example = { readonly path: string; readonly bytes: Buffer };
type Question = {
  readonly id: string;
  readonly language: "en" | "de" | "fr" | "es";
  readonly kind: string;
  readonly question: string;
  readonly expected: readonly (readonly string[])[];
  readonly files: readonly string[];
};

const text = (path: string, content: string): Example => ({ path, bytes: Buffer.from(content) });

const TABLES: readonly Example[] = [
  text(
    "csv/cabins.csv",
    "Cabin,Seats,Last inspection\nLynx,8,2026-03-14\nMarmot,12,2026-05-02\nIbex,15,2026-06-21\n",
  ),
  {
    path: "csv/ersatzteile.csv",
    bytes: Buffer.from(
      "Teil;Bestand;Preis in Euro\nTragseil;2;48.500,00\nRollenbatterie;14;1.120,50\nBremsbelag für Kabine;60;37,80\n",
      "latin1",
    ),
  },
  text(
    "csv/proveedores.csv",
    'Proveedor,Ciudad,Producto\n"Cables Duero, S.L.",Zamora,cable portador\nTaller Miño,Lugo,poleas\n',
  ),
  text(
    "tsv/stations.tsv",
    "Station\tAltitude in metres\nValley\t612\nMiddle\t1340\nSummit\t2215\n",
  ),
  text(
    "tsv/fahrplan.tsv",
    "Fahrt\tAbfahrt\tSaison\nerste Bergfahrt\t07:40\tSommer\nletzte Talfahrt\t18:25\tWinter\n",
  ),
  {
    path: "tsv/equipes.tsv",
    bytes: Buffer.from(
      "\uFEFFÉquipe\tChef\tTéléphone interne\nNuit\tMaëlle Perrin\t4417\nEntretien\tHugo Blanc\t4420\n",
      "utf16le",
    ),
  },
];

const page = (language: string, title: string, body: string): string =>
  `<!doctype html>\n<html lang="${language}"><head><meta charset="utf-8"><title>${title}</title>` +
  `<script>document.title = "no";</script></head>\n<body><nav>Home</nav>\n<h1>${title}</h1>\n${body}\n</body></html>\n`;

const PAGES: readonly Example[] = [
  text(
    "html/tickets.html",
    page(
      "en",
      "Tickets",
      "<p>A day ticket is valid on both sections.</p>\n<table><tr><th>Ticket</th><th>Price</th></tr>" +
        "<tr><td>Day ticket for adults</td><td>31.00 EUR</td></tr><tr><td>Day ticket for dogs</td><td>4.50 EUR</td></tr></table>",
    ),
  ),
  text(
    "html/windregeln.html",
    page(
      "de",
      "Regeln bei Wind",
      "<p>Ab einer Windgeschwindigkeit von 54 km/h fährt die Bahn langsamer.</p><p>Ab 72 km/h wird der Betrieb eingestellt.</p>" +
        "<h2>Meldung</h2><p>Die Einstellung meldet die Leitstelle an die <a href='https://example.org'>Bergrettung</a>.</p>",
    ),
  ),
  text(
    "html/buvette.html",
    page(
      "fr",
      "La buvette du sommet",
      "<ul><li>La soupe du jour coûte 7,20 euros.</li><li>La buvette ferme à 17 h 30.</li></ul>",
    ),
  ),
];

const MAILS = {
  gearbox: writeMail({
    from: "Iris Holt <iris@example.org>",
    to: "Workshop <workshop@example.org>",
    date: "Mon, 9 Mar 2026 07:12:00 +0100",
    subject: "Gearbox oil",
    text:
      "The gearbox of the drive takes 85 litres of oil.\nPlease order the next barrel.\n\nOn 8 March 2026 Workshop wrote:\n" +
      "> How much oil does the gearbox take?\n\n-- \nIris Holt\nOperations",
  }),
  vertrag: writeMail({
    from: "Jonas Eder <jonas@example.org>",
    to: "Büro <buero@example.org>",
    date: "Thu, 2 Apr 2026 16:40:00 +0200",
    subject: "Pachtvertrag der Bergstation",
    text: "Anbei die Liste. Der Pachtvertrag der Bergstation endet am 31. Oktober 2029.\n\nGruß, Jonas",
    attachments: [
      {
        name: "pacht.csv",
        type: "text/csv",
        content:
          "Fläche;Pacht im Jahr\nTerrasse der Bergstation;9.600 Euro\nKeller der Bergstation;1.150 Euro\n",
      },
    ],
  }),
  permiso: writeMail({
    from: "Lucía Vega <lucia@example.org>",
    to: "Dirección <direccion@example.org>",
    date: "Fri, 5 Jun 2026 09:05:00 +0200",
    subject: "Permiso de obras",
    text: "El permiso de obras para el aparcamiento tiene el número 2026/0817.\nCaduca el 30 de noviembre de 2026.",
  }),
  night: writeMail({
    from: "Night shift <night@example.org>",
    to: "Office <office@example.org>",
    date: "Sat, 10 Jan 2026 05:55:00 +0100",
    subject: "Ice on the rope",
    text: "We removed 4 centimetres of ice from the hauling rope before the first ride.",
  }),
  neige: writeMail({
    from: "Équipe de nuit <nuit@example.org>",
    to: "Bureau <bureau@example.org>",
    date: "Sun, 11 Jan 2026 06:02:00 +0100",
    subject: "Neige au parking",
    text: "Le chasse-neige a dégagé le parking P3 à 5 h 20 ce matin.",
  }),
  alarm: writeMail({
    from: "Leitstelle <leitstelle@example.org>",
    to: "Büro <buero@example.org>",
    date: "Mon, 12 Jan 2026 22:15:00 +0100",
    subject: "Fehlalarm an Stütze 7",
    text: "Der Fehlalarm an Stütze 7 kam von einem losen Kabel am Windmesser.",
  }),
  llaves: writeMail({
    from: "Recepción <recepcion@example.org>",
    to: "Oficina <oficina@example.org>",
    date: "Tue, 13 Jan 2026 08:30:00 +0100",
    subject: "Llaves del almacén",
    text: "Las llaves del almacén están en la caja azul de la recepción.",
  }),
  lost: writeMail({
    from: "Front desk <desk@example.org>",
    to: "Office <office@example.org>",
    date: "Wed, 14 Jan 2026 18:00:00 +0100",
    subject: "Lost and found",
    text: "A red umbrella was found in cabin Marmot and lies in locker 23.",
  }),
};

const LETTERS: readonly Example[] = [
  { path: "eml/gearbox.eml", bytes: MAILS.gearbox },
  { path: "eml/pachtvertrag.eml", bytes: MAILS.vertrag },
  { path: "eml/permiso.eml", bytes: MAILS.permiso },
  { path: "mbox/nights.mbox", bytes: writeMailbox([MAILS.night, MAILS.neige]) },
  { path: "mbox/leitstelle.mbox", bytes: writeMailbox([MAILS.alarm]) },
  { path: "mbox/desk.mbox", bytes: writeMailbox([MAILS.llaves, MAILS.lost]) },
];

const column = (x: number, top: number, lines: readonly string[]): Drawn[] =>
  lines.map((line, at) => [x, top - at * 13, line]);

/** Two columns that are drawn line by line, as some programs do. */
const twoColumns = (left: readonly string[], right: readonly string[]): Drawn[] =>
  left.flatMap((line, at): Drawn[] => [
    [50, 720 - at * 13, line],
    [315, 720 - at * 13, right[at] ?? ""],
  ]);

const PRINTED: readonly Example[] = [
  {
    path: "pdf/evacuation.pdf",
    bytes: writePdf(
      [
        column(50, 780, ["Evacuation plan", "", "Each cabin carries a rope of 40 metres."]),
        column(50, 780, [
          "Roles",
          "",
          "The evacuation leader is the shift engineer.",
          "Rescuers reach tower 9 on foot within 35 minutes.",
        ]),
      ],
      "Evacuation plan",
    ),
  },
  {
    path: "pdf/jahresbericht.pdf",
    bytes: writePdf(
      [
        [
          ...column(50, 780, [
            "Jahresbericht der Bahn, in zwei Spalten gesetzt, wie es im Heft der Gesellschaft seit jeher üblich ist",
          ]),
          ...twoColumns(
            [
              "Im vergangenen Jahr fuhren 218.400 Gäste",
              "mit der Bahn auf den Berg, mehr als jemals",
              "zuvor. An 11 Tagen stand die Bahn wegen",
              "des Windes still, im Jahr davor waren es",
              "neunzehn Tage. Die Gäste kamen vor allem",
              "aus der näheren Umgebung des Tales.",
            ],
            [
              "Für die neue Steuerung der Anlage gab die",
              "Gesellschaft 340.000 Euro aus. Sie läuft",
              "seit dem Herbst ohne eine Störung. Auch im",
              "nächsten Jahr wird wieder gebaut, und zwar",
              "an der Talstation, die ein neues Dach und",
              "einen Aufzug bekommen soll.",
            ],
          ),
        ],
      ],
      "Jahresbericht",
    ),
  },
  {
    path: "pdf/tarifas.pdf",
    bytes: writePdf(
      [
        [
          ...column(50, 780, ["Tarifas de grupo"]),
          ...["Grupo escolar", "Grupo de empresa", "Club de montaña"].flatMap(
            (name, at): Drawn[] => [
              [50, 740 - at * 18, name],
              [300, 740 - at * 18, ["9,80 euros", "17,40 euros", "12,60 euros"][at] ?? ""],
            ],
          ),
        ],
      ],
      "Tarifas de grupo",
    ),
  },
];

const WRITTEN: readonly Example[] = [
  {
    path: "docx/handbook.docx",
    bytes: writeDocx({
      title: "Handbook",
      styles: headingStyles("heading"),
      body:
        paragraph(run("Handbook of the control room"), "heading1") +
        paragraph(run("Shift handover"), "heading2") +
        `<w:p>${run("The handover takes place at ")}<w:del w:id="1"><w:r><w:delText>06:00</w:delText></w:r></w:del><w:ins w:id="2">${run("05:45")}</w:ins>${run(" in the control room.")}</w:p>` +
        paragraph(run("Radio"), "heading2") +
        `<w:p>${run("The radio channel of the rescuers is channel 16.")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`,
      footnotes: `<w:footnote w:id="2">${paragraph(run("The spare radio hangs beside the door of the valley station."))}</w:footnote>`,
    }),
  },
  {
    path: "docx/dienstanweisung.docx",
    bytes: writeDocx({
      title: "Dienstanweisung",
      styles: headingStyles("Überschrift"),
      body:
        paragraph(run("Dienstanweisung"), "Überschrift1") +
        paragraph(run("Seilprüfung"), "Überschrift2") +
        paragraph(run("Das Tragseil wird alle 18 Monate mit dem Magneten geprüft.")) +
        wordTable([
          ["Bauteil", "Zuständig"],
          ["Zugseil", "Frau Kofler"],
          ["Windmesser", "Herr Thaler"],
        ]),
    }),
  },
  {
    path: "docx/reglement.docx",
    bytes: writeDocx({
      title: "Règlement intérieur",
      styles: headingStyles("Titre"),
      body:
        paragraph(run("Règlement intérieur"), "Titre1") +
        `<w:p>${run("Les vélos sont admis jusqu'à 16 heures.")}<w:r><w:commentReference w:id="0"/></w:r></w:p>` +
        paragraph(run("Les objets trouvés sont gardés pendant 90 jours.")),
      comments: `<w:comment w:id="0" w:author="Claire">${paragraph(run("Demander l'avis de la mairie."))}</w:comment>`,
    }),
  },
];

const BOOKS: readonly Example[] = [
  {
    path: "xlsx/budget.xlsx",
    bytes: writeXlsx(
      [
        {
          name: "Budget 2027",
          rows: [
            ["Item", "Amount in EUR", "Due"],
            ["New hauling rope", 126_000, { day: 46_478 }],
            ["Paint for the towers", 8_400, { day: 46_539 }],
            ["Total", { formula: "SUM(B2:B3)", result: 134_400 }],
          ],
        },
        {
          name: "Reserve",
          isHidden: true,
          rows: [
            ["Fund", "Amount in EUR"],
            ["Storm damage fund", 52_000],
          ],
        },
      ],
      "Budget",
    ),
  },
  {
    path: "xlsx/dienstplan.xlsx",
    bytes: writeXlsx([
      {
        name: "Dienstplan",
        rows: [
          ["Schicht", "Maschinist", "Beginn"],
          ["Frühschicht", "Paul Unterweger", "05:45"],
          ["Spätschicht", "Nina Rauch", "13:45"],
        ],
      },
    ]),
  },
  {
    path: "xlsx/inventario.xlsx",
    bytes: writeXlsx([
      {
        name: "Inventario",
        rows: [
          ["Objeto", "Unidades", "Estante"],
          ["Cascos de rescate", 34, "B2"],
          ["Mantas térmicas", 210, "C5"],
        ],
      },
    ]),
  },
];

const p = (words: string): string => `<text:p>${words}</text:p>`;
const h = (level: number, words: string): string =>
  `<text:h text:outline-level="${level}">${words}</text:h>`;

const OPEN: readonly Example[] = [
  {
    path: "odt/minutes.odt",
    bytes: writeOdt(
      h(1, "Minutes of the board") +
        p("The board agreed to rent the east meadow for 2,300 EUR a year."),
      "Minutes of the board",
    ),
  },
  {
    path: "odt/compte-rendu.odt",
    bytes: writeOdt(
      h(1, "Compte rendu") +
        p("La prochaine visite de sécurité aura lieu le 19 mai 2026.") +
        "<text:list><text:list-item><text:p>Madame Roche apporte le registre des pannes.</text:p></text:list-item></text:list>",
      "Compte rendu",
    ),
  },
  {
    path: "odt/acta.odt",
    bytes: writeOdt(
      h(1, "Acta de la reunión") + p("La guardería de la estación admite a 18 niños."),
      "Acta",
    ),
  },
];

const SHOWN: readonly Example[] = [
  {
    path: "pptx/safety.pptx",
    bytes: writePptx([
      { shapes: shape("title", "Safety day") + shape("body", "The drill begins at 14:20.") },
      {
        shapes: shape("title", "Rescue kit") + shape("body", "The rescue kit weighs 27 kilograms."),
        notes: "Show the kit.",
      },
    ]),
  },
  {
    path: "pptx/saison.pptx",
    bytes: writePptx([
      {
        shapes: shape("title", "Saison") + shape("body", "Die Sommersaison endet am 18. Oktober."),
      },
    ]),
  },
  {
    path: "pptx/formation.pptx",
    bytes: writePptx([
      {
        shapes:
          shape("title", "Formation") + shape("body", "La formation des pisteurs dure 12 jours."),
      },
    ]),
  },
  ...(
    [
      ["odp/lift.odp", "The new lift", "The new lift carries 1,800 persons an hour."],
      ["odp/umbau.odp", "Umbau", "Der Umbau der Talstation kostet 4,2 Millionen Euro."],
      ["odp/obras.odp", "Obras", "Las obras del andén terminan el 7 de junio."],
    ] as const
  ).map(([path, title, words]) => ({
    path,
    bytes: writeOpenDocument(
      `<office:presentation><draw:page><draw:frame presentation:class="title"><draw:text-box>${p(title)}</draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box>${p(words)}</draw:text-box></draw:frame></draw:page></office:presentation>`,
    ),
  })),
];

const sheetOf = (name: string, rows: readonly (readonly string[])[]): Buffer =>
  writeOpenDocument(
    `<office:spreadsheet><table:table table:name="${name}">${rows
      .map(
        (row) =>
          `<table:table-row>${row.map((cell) => `<table:table-cell office:value-type="string">${p(cell)}</table:table-cell>`).join("")}</table:table-row>`,
      )
      .join("")}</table:table></office:spreadsheet>`,
  );

const OPEN_SHEETS: readonly Example[] = [
  {
    path: "ods/keys.ods",
    bytes: sheetOf("Keys", [
      ["Key", "Holder", "Returned"],
      ["Engine room", "Ruth Aldous", "no"],
      ["Ticket office", "Tom Pryce", "yes"],
    ]),
  },
  {
    path: "ods/pruefungen.ods",
    bytes: sheetOf("Prüfungen", [
      ["Bauteil", "Prüfer", "Nächste Prüfung"],
      ["Fangbremse", "Herr Egger", "3. März 2027"],
      ["Seilklemme", "Frau Moser", "9. April 2027"],
    ]),
  },
  {
    path: "ods/navettes.ods",
    bytes: sheetOf("Navettes", [
      ["Navette", "Départ", "Conducteur"],
      ["Gare", "8 h 15", "Paul Lenoir"],
      ["Village", "9 h 40", "Inès Fabre"],
    ]),
  },
];

const BOOKLETS: readonly Example[] = (
  [
    ["epub/guide.epub", "Mountain guide", "Paths", "The ridge path is 6.5 kilometres long."],
    ["epub/chronik.epub", "Chronik der Bahn", "Anfang", "Die erste Bahn wurde 1934 eröffnet."],
    ["epub/leyendas.epub", "Leyendas", "El lago", "El lago tiene 43 metros de profundidad."],
  ] as const
).map(([path, title, chapter, words]) => ({
  path,
  bytes: writeEpub(title, [`<h1>${chapter}</h1><p>${words}</p>`, "<h1>2</h1><p>…</p>"]),
}));

/** As WordPad writes it: letters beyond ASCII by their number in Windows-1252. */
const richText = (title: string, words: string): Buffer =>
  Buffer.from(
    `{\\rtf1\\ansi\\ansicpg1252{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 heading 1;}}\n\\pard\\s1 ${title}\\par\\pard\\plain ${words}\\par}`.replaceAll(
      /[^\0-\x7f]/g,
      (letter) => `\\'${letter.charCodeAt(0).toString(16)}`,
    ),
  );

const calendarOf = (name: string, ...lines: readonly string[]): Buffer =>
  Buffer.from(
    [
      "BEGIN:VCALENDAR",
      `X-WR-CALNAME:${name}`,
      "BEGIN:VEVENT",
      ...lines,
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n"),
  );

const NOTED: readonly Example[] = [
  {
    path: "rtf/lease.rtf",
    bytes: richText("Kiosk", "The rent of the kiosk is 640 euros a month."),
  },
  {
    path: "rtf/hausordnung.rtf",
    bytes: richText("Hausordnung", "Die Küche schließt um 21:30 Uhr."),
  },
  {
    path: "rtf/reglas.rtf",
    bytes: richText("Reglas", "El depósito de los esquís cuesta 5 euros."),
  },
  {
    path: "ics/closing.ics",
    bytes: calendarOf(
      "Closings",
      ...["SUMMARY:Closing for maintenance", "DTSTART:20261102T060000", "LOCATION:Middle station"],
    ),
  },
  {
    path: "ics/sitzung.ics",
    bytes: calendarOf(
      "Vorstand",
      ...["SUMMARY:Sitzung des Vorstands", "DTSTART:20260917T183000", "LOCATION:Gasthof Krone"],
    ),
  },
  {
    path: "ics/visite.ics",
    bytes: calendarOf(
      "Visites",
      ...[
        "SUMMARY:Visite de la commission",
        "DTSTART:20260604T100000",
        "LOCATION:Salle Belledonne",
      ],
    ),
  },
];

const ARCHIVES: readonly Example[] = (
  [
    [
      "zip/minutes.zip",
      "2026/winter.md",
      "# Winter\n\nThe snow cannon of slope 3 was sold for 9,400 euros.\n",
    ],
    ["zip/berichte.zip", "Berichte/wind.txt", "Der stärkste Wind des Jahres hatte 131 km/h.\n"],
    ["zip/avisos.zip", "avisos/agua.md", "# Agua\n\nEl corte de agua dura 4 horas.\n"],
  ] as const
).map(([path, name, content]) => ({
  path,
  bytes: writeZip([
    { name, content },
    { name: "picture.png", content: "x" },
  ]),
}));

/** All of them, by their path below `files`. */
export const FORMAT_EXAMPLES: readonly Example[] = [
  ...TABLES,
  ...PAGES,
  ...LETTERS,
  ...PRINTED,
  ...WRITTEN,
  ...BOOKS,
  ...OPEN,
  ...SHOWN,
  ...OPEN_SHEETS,
  ...BOOKLETS,
  ...NOTED,
  ...ARCHIVES,
];

const ask = (
  language: Question["language"],
  path: string,
  question: string,
  ...expected: readonly string[]
): Omit<Question, "id"> => ({
  language,
  kind: path.split("/")[0] ?? "",
  question,
  expected: expected.map((words) => [words]),
  files: [`files/${path}`],
});

/** Questions with their answers, for `nightdesk eval`. */
export const FORMAT_QUESTIONS: readonly Question[] = [
  ask("en", "csv/cabins.csv", "How many seats does the cabin Ibex have?", "15"),
  ask("de", "csv/ersatzteile.csv", "Was kostet eine Rollenbatterie?", "1.120,50"),
  ask("es", "csv/proveedores.csv", "¿En qué ciudad está el proveedor Taller Miño?", "Lugo"),
  ask("en", "tsv/stations.tsv", "At what altitude is the station Summit?", "2215"),
  ask("de", "tsv/fahrplan.tsv", "Wann ist die Abfahrt der letzten Talfahrt?", "18:25"),
  ask("fr", "tsv/equipes.tsv", "Quel est le téléphone interne de l'équipe Nuit ?", "4417"),
  ask("en", "html/tickets.html", "What does a day ticket for dogs cost?", "4.50"),
  ask(
    "de",
    "html/windregeln.html",
    "Ab welcher Windgeschwindigkeit wird der Betrieb eingestellt?",
    "72 km/h",
  ),
  ask("fr", "html/buvette.html", "Combien coûte la soupe du jour ?", "7,20"),
  ask("en", "eml/gearbox.eml", "How many litres of oil does the gearbox take?", "85"),
  ask(
    "de",
    "eml/pachtvertrag.eml",
    "Wann endet der Pachtvertrag der Bergstation?",
    "31. Oktober 2029",
  ),
  ask(
    "de",
    "eml/pachtvertrag.eml/attachments/1/pacht.csv",
    "Wie hoch ist die Pacht für den Keller der Bergstation?",
    "1.150",
  ),
  ask("es", "eml/permiso.eml", "¿Qué número tiene el permiso de obras?", "2026/0817"),
  ask(
    "en",
    "mbox/nights.mbox",
    "How many centimetres of ice were removed from the hauling rope?",
    "4",
  ),
  ask("fr", "mbox/nights.mbox", "Quel parking le chasse-neige a-t-il dégagé ?", "P3"),
  ask("de", "mbox/leitstelle.mbox", "Woher kam der Fehlalarm an Stütze 7?", "Kabel"),
  ask("es", "mbox/desk.mbox", "¿Dónde están las llaves del almacén?", "caja azul"),
  ask("en", "mbox/desk.mbox", "In which locker does the red umbrella lie?", "23"),
  ask("en", "pdf/evacuation.pdf", "Within how many minutes do rescuers reach tower 9?", "35"),
  ask(
    "de",
    "pdf/jahresbericht.pdf",
    "Wie viel gab die Gesellschaft für die neue Steuerung aus?",
    "340.000",
  ),
  ask("es", "pdf/tarifas.pdf", "¿Cuál es la tarifa del club de montaña?", "12,60"),
  ask("en", "docx/handbook.docx", "What is the radio channel of the rescuers?", "16"),
  ask("de", "docx/dienstanweisung.docx", "Wie oft wird das Tragseil geprüft?", "18 Monate"),
  ask(
    "fr",
    "docx/reglement.docx",
    "Pendant combien de jours les objets trouvés sont-ils gardés ?",
    "90",
  ),
  ask("en", "xlsx/budget.xlsx", "What is the amount for the new hauling rope?", "126000"),
  ask("de", "xlsx/dienstplan.xlsx", "Wer ist der Maschinist der Spätschicht?", "Nina Rauch"),
  ask("es", "xlsx/inventario.xlsx", "¿En qué estante están las mantas térmicas?", "C5"),
  ask("en", "odt/minutes.odt", "For how much does the board rent the east meadow?", "2,300"),
  ask(
    "fr",
    "odt/compte-rendu.odt",
    "Quand aura lieu la prochaine visite de sécurité ?",
    "19 mai 2026",
  ),
  ask("es", "odt/acta.odt", "¿A cuántos niños admite la guardería de la estación?", "18"),
  ask("en", "pptx/safety.pptx", "How many kilograms does the rescue kit weigh?", "27"),
  ask("de", "pptx/saison.pptx", "Wann endet die Sommersaison?", "18. Oktober"),
  ask("en", "odp/lift.odp", "How many persons does the new lift carry an hour?", "1,800"),
  ask("es", "odp/obras.odp", "¿Cuándo terminan las obras del andén?", "7 de junio"),
  ask("en", "ods/keys.ods", "Who is the holder of the key of the engine room?", "Ruth Aldous"),
  ask("de", "ods/pruefungen.ods", "Wer ist der Prüfer der Fangbremse?", "Herr Egger"),
  ask("en", "epub/guide.epub", "How many kilometres long is the ridge path?", "6.5"),
  ask("de", "epub/chronik.epub", "Wann wurde die erste Bahn eröffnet?", "1934"),
  ask("en", "rtf/lease.rtf", "How much is the rent of the kiosk?", "640"),
  ask("de", "rtf/hausordnung.rtf", "Um wie viel Uhr schließt die Küche?", "21:30"),
  ask("de", "ics/sitzung.ics", "Wann ist die Sitzung des Vorstands?", "2026-09-17"),
  ask(
    "en",
    "zip/minutes.zip/attachments/1/2026-winter.md",
    "For how much was the snow cannon of slope 3 sold?",
    "9,400",
  ),
  ask(
    "es",
    "zip/avisos.zip/attachments/1/avisos-agua.md",
    "¿Cuántas horas dura el corte de agua?",
    "4 horas",
  ),
].map((question, at) => ({ id: `f-${String(at + 1).padStart(3, "0")}`, ...question }));
