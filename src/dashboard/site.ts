import type { Config } from "../shared/config/schema.ts";
import type { Logger } from "../shared/logger.ts";
import type { Database } from "../shared/store/connection/database.ts";
import type { RunCommand } from "./command-child.ts";
import type { Draw } from "./draw.ts";
import type { PageContent } from "./layout.ts";
import type { Nights } from "./nights.ts";
import type { Session } from "./sessions.ts";
import type { Tools } from "./tools.ts";

/** Everything that pages need. */
export type Site = {
  readonly config: Config;
  readonly database: Database;
  readonly runCommand: RunCommand;
  /** The same for SQL statements of users, which delay no other command. */
  readonly runStatement: RunCommand;
  /** The same for drawn pages of files. */
  readonly runDrawing: RunCommand;
  /** The same for uploads. */
  readonly runUpload: RunCommand;
  readonly tools: Tools;
  readonly draw: Draw;
  readonly nights: Nights;
  /** The timezone of pages. */
  readonly zone: string;
  /** `browser`: a browser that reports its timezone gets that one. */
  readonly zoneOf: "desk" | "browser";
  readonly logger: Logger;
};

/** An authenticated request. */
export type SiteRequest = {
  readonly session: Session;
  readonly path: string;
  /** A parameter of the path by its name in the route. */
  readonly part: (name: string) => string;
  readonly query: URLSearchParams;
  /** The fields of a form; empty for a GET. */
  readonly form: URLSearchParams;
};

export type Answer =
  | { readonly kind: "page"; readonly content: PageContent }
  /** For an `<img>`: a browser runs no code of it. */
  | { readonly kind: "picture"; readonly type: string; readonly bytes: Buffer }
  /** After a change: redirects the browser to a page. */
  | { readonly kind: "redirect"; readonly to: string }
  | { readonly kind: "csv"; readonly name: string; readonly chunks: AsyncIterable<string> };

export type Route = {
  /** Only a post changes anything; the default is GET. */
  readonly method?: "post";
  /** Parameters begin with a colon. */
  readonly path: string;
  readonly answer: (site: Site, request: SiteRequest) => Promise<Answer>;
};

export const page = (content: PageContent): Answer => ({ kind: "page", content });
