const dots = [
  "..",
  "%2e%2e",
  "%252e%252e",
  ".%2e",
  "%2e.",
  "%c0%ae%c0%ae",
  "%uff0e%uff0e",
  "\uff0e\uff0e",
  "\u2025",
  "..;",
  "..%00",
  "..\u200b",
  "....",
  "..\u0000",
  ". .",
  "\u002e\u002e",
  "..%01",
];
const separators = [
  "/",
  "\\",
  "//",
  "/./",
  "%2f",
  "%5c",
  "%252f",
  "%c0%af",
  "%e0%80%af",
  "\uff0f",
  "\u2215",
  "\u2044",
  "/\\",
  "\\/",
  "%u2215",
];
const starts = ["", "/", "./", "allowed/", "allowed/corpus/", "~/", "file:///", "/proc/self/cwd/"];
const targets = ["outside/secret.md", "etc/passwd", "etc/passwd\0.md", "outside/secret.md/."];

/** Spellings that climb, in every encoding that something on the way might decode. */
export function traversalStrings(): string[] {
  const strings = starts.flatMap((start) =>
    dots.flatMap((dot) =>
      separators.flatMap((separator) =>
        [1, 2, 3, 8].flatMap((depth) =>
          targets.map((target) => start + (dot + separator).repeat(depth) + target),
        ),
      ),
    ),
  );
  return [...new Set(strings)];
}
