import { writeFileSync } from "node:fs";
import { relative } from "node:path";

/** A reporter of jest that keeps the names of the files whose tests run in the file NIGHTDESK_RUNNING_FILES, a JSON list. */
export default class RunningFiles {
  #running = new Set();

  onTestFileStart(test) {
    this.#running.add(relative(process.cwd(), test.path));
    this.#write();
  }

  onTestFileResult(test) {
    this.#running.delete(relative(process.cwd(), test.path));
    this.#write();
  }

  #write() {
    writeFileSync(process.env.NIGHTDESK_RUNNING_FILES, JSON.stringify([...this.#running]));
  }
}
