import { CALCULATE } from "./calculate.ts";
import { LIST_FILES } from "./list-files.ts";
import { NOTE } from "./note.ts";
import { READ_ARTIFACT } from "./read-artifact.ts";
import { READ_TEXT_FILE } from "./read-text-file.ts";
import { registryOf } from "./registry.ts";
import { SEARCH_INDEX } from "./search-index.ts";
import { SEARCH_TEXT } from "./search-text.ts";
import { SHELL } from "./shell.ts";
import { WEB_FETCH } from "./web-fetch.ts";
import { WEB_SEARCH } from "./web-search.ts";

/** The tools that ship with Nightdesk. */
export const TOOLS = registryOf([
  SEARCH_INDEX,
  LIST_FILES,
  READ_TEXT_FILE,
  SEARCH_TEXT,
  READ_ARTIFACT,
  NOTE,
  WEB_SEARCH,
  WEB_FETCH,
  CALCULATE,
  SHELL,
]);
