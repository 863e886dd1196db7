import type { Config } from "../shared/config/schema.ts";
import type { Logger } from "../shared/logger.ts";
import type { Database } from "../shared/store/connection/database.ts";
import type { RunCommand } from "./command-child.ts";
import type { Draw } from "./draw.ts";
import type { PageContent } from "./layout.ts";
import type { Nights } from "./nights.ts";
import type { Session } from "./sessions.ts";
import type { Tools } from "./tools.ts";

/** What pages are made of. */
export type Desk = {
  readonly config: Config;
  readonly database: Database;
  readonly runCommand: RunCommand;
  /** The same for statements that somebody writes: they keep no command waiting. */
  readonly runStatement: RunCommand;
  /** The same for pages of files that somebody looks at. */
  readonly runDrawing: RunCommand;
  /** The same for files that somebody sends. */
  readonly runUpload: RunCommand;
  readonly tools: Tools;
  readonly draw: Draw;
  readonly nights: Nights;
  /** Whose clocks pages show. */
  readonly zone: string;
  /** `browser`: a browser that names its own zone is shown that. */
  readonly zoneOf: "desk" | "browser";
  readonly logger: Logger;
};

/** A request that was let in. */
export type DeskRequest = {
  readonly session: Session;
  readonly path: string;
  /** A part of the path by its name in the route. */
  readonly part: (name: string) => string;
  readonly query: URLSearchParams;
  /** What a form sent; empty for a GET. */
  readonly form: URLSearchParams;
};

export type Answer =
  | { readonly kind: "page"; readonly content: PageContent }
  /** For an `<img>`: nothing that a browser runs. */
  | { readonly kind: "picture"; readonly type: string; readonly bytes: Buffer }
  /** After a change: the browser asks for that page. */
  | { readonly kind: "redirect"; readonly to: string }
  | { readonly kind: "csv"; readonly name: string; readonly chunks: AsyncIterable<string> };

export type Route = {
  /** It alone changes anything; without it a page is read (GET). */
  readonly method?: "post";
  /** Parts that vary begin with a colon. */
  readonly path: string;
  readonly answer: (desk: Desk, request: DeskRequest) => Promise<Answer>;
};

export const page = (content: PageContent): Answer => ({ kind: "page", content });
