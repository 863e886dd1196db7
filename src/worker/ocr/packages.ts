import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { isRecord } from "../../shared/schema/json-value.ts";

export type OcrPackage = {
  readonly name: string;
  readonly version: string;
  /** Unpacked. */
  readonly bytes: number;
};

export const languagePackage = (language: string): string => `@tesseract.js-data/${language}`;

const languageData = (language: string, bytes: number): OcrPackage => ({
  name: languagePackage(language),
  version: "1.0.0",
  bytes,
});

/** Draws pages. */
export const PDFIUM: OcrPackage = { name: "@hyzyla/pdfium", version: "2.1.13", bytes: 11_000_000 };
/** Reads letters. */
export const TESSERACT: OcrPackage = {
  name: "tesseract.js-core",
  version: "7.0.0",
  bytes: 45_300_000,
};

/** The packages that OCR needs: optional peer dependencies in package.json. */
export const OCR_PACKAGES: readonly OcrPackage[] = [
  PDFIUM,
  TESSERACT,
  languageData("osd", 8_600_000),
  languageData("eng", 13_800_000),
  languageData("deu", 8_400_000),
  languageData("fra", 6_900_000),
  languageData("spa", 11_200_000),
  languageData("ita", 8_700_000),
];

/**
 * The real path of a package that is installed beside Nightdesk or in the folder of `models setup ocr`.
 * @param folder of `models setup ocr`; null looks only beside Nightdesk
 */
export function findPackage(
  { name, version }: Pick<OcrPackage, "name" | "version">,
  folder: string | null,
): string | undefined {
  const beside = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const own = folder === null ? [] : [join(folder, "node_modules")];
  const found = [...beside, ...own]
    .map((modules) => join(modules, name))
    .find((place) => versionIn(place) === version);
  return found === undefined ? undefined : realpathSync(found);
}

function versionIn(place: string): string | undefined {
  const manifest = join(place, "package.json");
  if (!existsSync(manifest)) return undefined;
  const read: unknown = JSON.parse(readFileSync(manifest, "utf8"));
  return isRecord(read) && typeof read["version"] === "string" ? read["version"] : undefined;
}

/** Where `models setup ocr` installs the packages: beside the downloaded models. */
export const ocrFolderOf = ({
  embed,
  roots,
}: {
  readonly embed: { readonly cache_dir: string | null };
  readonly roots: { readonly workroot: string };
}): string => resolve(roots.workroot, embed.cache_dir ?? "models", "ocr");
