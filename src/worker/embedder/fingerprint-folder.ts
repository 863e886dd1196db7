import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { posix } from "node:path";
import { pipeline } from "node:stream/promises";

/** SHA-256 over names and contents of all files below a folder, wherever the folder lies. */
export async function fingerprintFolder(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => posix.relative(folder, posix.join(entry.parentPath, entry.name)))
    .sort();
  const whole = createHash("sha256");
  for (const file of files) {
    const content = createHash("sha256");
    await pipeline(createReadStream(posix.join(folder, file)), content);
    whole.update(`${file.length}:${file}${content.digest("hex")}`);
  }
  return whole.digest("hex");
}
