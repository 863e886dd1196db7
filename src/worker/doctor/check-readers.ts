import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { ExtractText } from "../documents/extraction.ts";
import type { ReaderRights } from "../documents/reader/rights.ts";
import { findOcr, ocrFoldersOf } from "../ocr/places.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

const READER = "The process that reads documents with a parser";

/**
 * Checks the restrictions that Node puts on the process that reads PDF, mail and similar, and whether it works with them.
 * @param extractText the worker's function for the text of a file
 */
export async function checkReader(
  { withheld }: Pick<ReaderRights, "withheld">,
  extractText: ExtractText,
): Promise<Check> {
  const trouble = await tryReader(extractText);
  if (trouble !== null)
    return fail(
      "DOCTOR_READER_FAILED",
      `${READER} could not read ${trouble}`,
      "Install Nightdesk and its packages anew: that process may read their folders alone.",
    );
  switch (withheld) {
    case "nothing":
      return warn(
        "DOCTOR_READER_UNRESTRICTED",
        `${READER} may do what the user of the worker may: this Node has no permissions.`,
        "Use another build of Node 20.19 or newer, or run the worker in a container.",
      );
    case "files":
      return ok(
        "DOCTOR_READER_OK",
        `${READER} can read no file but its code and packages, write none and start nothing; the network is kept from it by Node 25 or newer alone.`,
      );
    case "files and network":
      return ok(
        "DOCTOR_READER_OK",
        `${READER} can read no file but its code and packages, write none, start nothing and open no connection.`,
      );
  }
}

/** Trials of formats whose packages are loaded at different times. */
const TRIALS: readonly (readonly [string, string])[] = [
  ["trial.html", "<p>Ready.</p>"],
  ["trial.eml", "From: a@example.org\nSubject: Trial\n\nReady.\n"],
  [
    "trial.pdf",
    [
      "%PDF-1.4",
      "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
      "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
      "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj",
      "4 0 obj<</Length 34>>stream",
      "BT /F 9 Tf 9 9 Td (Ready.) Tj ET  ",
      "endstream endobj",
      "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj",
      "trailer<</Root 1 0 R>>",
    ].join("\n"),
  ],
];

/** @returns the trial that could not be read, and why; null if all were read */
async function tryReader(extractText: ExtractText): Promise<string | null> {
  for (const [name, content] of TRIALS) {
    try {
      const extracted = await extractText(name, Buffer.from(content));
      if (extracted.kind === "unreadable") return `${name}, which ${extracted.why}`;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return `${name}: ${error.message}`;
    }
  }
  return null;
}

/** Checks whether the reader of pictures is installed; no check if pictures are not read. */
export function checkOcr(config: Config, packageRoot: string): readonly Check[] {
  const { ocr } = config.index;
  if (ocr === null) return [];
  try {
    const { models } = findOcr(ocrFoldersOf(config, packageRoot), ocr.languages);
    const alone = ocr.languages.filter((language) => (models[language] ?? []).length < 2);
    if (ocr.second === "none" || alone.length === 0) {
      return [ok("DOCTOR_OCR_OK", `Pictures are read in ${ocr.languages.join(", ")}.`)];
    }
    return [
      warn(
        "DOCTOR_OCR_ONE_READER",
        `${alone.join(", ")} has one model: what rests on a figure that it read stays unconfirmed.`,
        "Put another model of the language into a folder, and name it in index.ocr.models_directory.",
      ),
    ];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [fail("DOCTOR_OCR_MISSING", error.message, "Run nightdesk models setup ocr.")];
  }
}
