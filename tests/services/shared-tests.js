import { readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** What measures time or memory does so without what others have loaded. */
const MEASURED = join(root, "tests", "limits") + sep;
/** As prettier writes it; `jest` changes functions and clocks under others. */
const MOCKS = /^import \{[^}]*\bjest\b[^}]*\} from "@jest\/globals";/m;

/**
 * Whether the modules of a test file can be those of other such files: it mocks nothing, and measures nothing.
 * @param {string} path absolute
 */
export function sharesModules(path) {
  return !path.startsWith(MEASURED) && !MOCKS.test(readFileSync(path, "utf8"));
}
