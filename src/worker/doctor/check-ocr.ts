import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { findOcr, ocrFoldersOf } from "../ocr/places.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Whether what reads pictures is there; nothing where none are read. */
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
