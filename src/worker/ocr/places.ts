import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import {
  findPackage,
  languagePackage,
  OCR_PACKAGES,
  ocrFolderOf,
  PDFIUM,
  TESSERACT,
} from "./packages.ts";

/** Where the programs and models of OCR are. Model files may be compressed by gzip. */
export type OcrPlaces = {
  /** Real paths of the packages. */
  readonly pdfium: string;
  readonly core: string;
  /** File of the model that detects how a page is rotated. */
  readonly turns: string | undefined;
  /** Up to two models per language, the first reader's first. */
  readonly models: Readonly<Record<string, readonly string[]>>;
};

export type OcrFolders = {
  /** Of `models setup ocr`; null looks only beside Nightdesk. */
  readonly packages: string | null;
  /** Of Nightdesk, with `assets/` in it. */
  readonly packageRoot: string;
  /** The folder that `index.ocr.models_directory` names, with files like `pol.traineddata`. */
  readonly models: string | null;
};

/** The folders of OCR by configuration. */
export const ocrFoldersOf = (config: Config, packageRoot: string): OcrFolders => {
  const directory = config.index.ocr?.models_directory ?? null;
  return {
    packages: ocrFolderOf(config),
    packageRoot,
    models: directory === null ? null : resolve(config.roots.workroot, directory),
  };
};

/**
 * Finds the installed programs and models of OCR.
 * @throws Failure OCR_MISSING if one is not installed
 */
export function findOcr(folders: OcrFolders, languages: readonly string[]): OcrPlaces {
  const [pdfium, core] = [PDFIUM, TESSERACT].map((each) => findPackage(each, folders.packages));
  if (pdfium === undefined || core === undefined) {
    throw new Failure(
      "OCR_MISSING",
      "The optional packages that read pictures are not installed. Run: nightdesk models setup ocr",
    );
  }
  if (folders.models !== null && !existsSync(folders.models)) {
    throw new Failure(
      "OCR_MISSING",
      `There is no folder ${folders.models}: make it, or name another one in index.ocr.models_directory.`,
    );
  }
  const models = Object.fromEntries(
    languages.map((language) => [language, modelsOf(folders, language)]),
  );
  const lacking = languages.filter((language) => models[language]?.length === 0);
  if (lacking.length > 0) {
    throw new Failure(
      "OCR_MISSING",
      `No model reads ${lacking.join(", ")}: put ${lacking[0] ?? ""}.traineddata into a folder that index.ocr.models_directory names.`,
    );
  }
  return { pdfium, core, turns: modelInPackage("osd", folders.packages), models };
}

/** Real paths of all folders that the reading process may read. */
export const foldersOf = ({ pdfium, core }: OcrPlaces, folders: OcrFolders): readonly string[] => [
  ...new Set([
    pdfium,
    core,
    ...OCR_PACKAGES.flatMap((each) => findPackage(each, folders.packages) ?? []),
    realpathSync(shippedFolder(folders)),
    ...(folders.models === null ? [] : [realpathSync(folders.models)]),
  ]),
];

const shippedFolder = ({ packageRoot }: OcrFolders): string => join(packageRoot, "assets", "ocr");

/** Up to two model files of a language, the first reader's first. */
export function modelsOf(folders: OcrFolders, language: string): string[] {
  const first = modelInPackage(language, folders.packages);
  const second = [folders.models, shippedFolder(folders)]
    .flatMap((folder) => (folder === null ? [] : [folder]))
    .flatMap((folder) =>
      [`${language}.traineddata`, `${language}.traineddata.gz`].map((name) => join(folder, name)),
    )
    .find((file) => existsSync(file));
  return [first, second].flatMap((file) => (file === undefined ? [] : [realpathSync(file)]));
}

function modelInPackage(language: string, folder: string | null): string | undefined {
  const name = languagePackage(language);
  const known = OCR_PACKAGES.find((each) => each.name === name);
  const place = known === undefined ? undefined : findPackage(known, folder);
  return place === undefined
    ? undefined
    : join(place, "4.0.0_best_int", `${language}.traineddata.gz`);
}
