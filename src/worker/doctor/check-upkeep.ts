import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectLongWaiting, selectStuckJobs } from "../../shared/store/jobs/overdue.ts";
import type { OverdueJobs } from "../../shared/store/jobs/overdue.ts";
import {
  selectLastRuns,
  selectNow,
  selectSchedules,
} from "../../shared/store/schedules/schedules.ts";
import type { LastRun } from "../../shared/store/schedules/schedules.ts";
import { selectServerCopies, selectTimeAhead } from "../../shared/store/connection/health.ts";
import { selectWatches } from "../../shared/store/index/watched-files.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { formatInZone } from "../../shared/schedules/time.ts";
import { fail, ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** Checks what deteriorates unnoticed over weeks: clock, disk, dumps, schedules, stuck jobs. */
export async function checkUpkeep(
  config: Config,
  database: Database,
  zone: string | null,
): Promise<readonly Check[]> {
  return [
    await checkClock(database),
    ...(await checkClockWentBack(database)),
    await checkDisk(config),
    ...(config.database.url === "embedded"
      ? await checkDumps(config)
      : [await checkServerCopies(database)]),
    ...(await checkSchedules(database, zone)),
    ...(await checkWatches(config, database)),
    ...(await checkJobs(database)),
  ];
}

/** Leases use the database's clock; a worker renews them by its own. */
const MOST_DRIFT_MS = 2_000;

async function checkClock(database: Database): Promise<Check> {
  const before = Date.now();
  const now = (await selectNow(database)).getTime();
  const after = Date.now();
  const driftMs = Math.max(before - now, now - after, 0);
  return driftMs <= MOST_DRIFT_MS
    ? ok("DOCTOR_CLOCK_OK", "This machine's clock agrees with the database's.")
    : warn(
        "DOCTOR_CLOCK_DIFFERS",
        `This machine's clock is ${(driftMs / 1_000).toFixed(1)} s off the database's: windows and schedules go by the database's.`,
        "Set both by NTP: timedatectl set-ntp true",
      );
}

async function checkClockWentBack(database: Database): Promise<readonly Check[]> {
  const aheadMs = await selectTimeAhead(database);
  if (aheadMs < MOST_DRIFT_MS) return [];
  return [
    warn(
      "DOCTOR_CLOCK_WENT_BACK",
      `The database's clock was set back: runs have ended ${Math.round(aheadMs / 1_000)} s from now, as it was then. Times and ` +
        "durations of jobs that ran meanwhile are off.",
      "Look at the server's clock; set it by NTP: timedatectl set-ntp true",
    ),
  ];
}

const FEW_BYTES = 2_000_000_000;
const NO_BYTES = 200_000_000;

async function checkDisk({ roots, database }: Config): Promise<Check> {
  const folder = database.url === "embedded" ? roots.databaseDirectory : roots.workroot;
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const message = `${(free / 1e9).toFixed(1)} GB are free where ${folder} lies.`;
  const fix = "Free some space: nightdesk batch prune --older-than 30d";
  if (free < NO_BYTES) return fail("DOCTOR_DISK_FULL", message, fix);
  return free < FEW_BYTES ? warn("DOCTOR_DISK_LOW", message, fix) : ok("DOCTOR_DISK_OK", message);
}

const OLD_DAYS = 7;
const DAY_MS = 86_400_000;

/** Checks the dumps of the embedded database: a power cut can cost everything since the last dump. */
async function checkDumps({ roots }: Config): Promise<readonly Check[]> {
  const folder = join(roots.databaseDirectory, "backups");
  // The part of a dump is hidden until it is whole, and stays if its process is killed.
  const names = (await readdir(folder).catch(() => [])).filter((name) => !name.startsWith("."));
  const found = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => null)));
  const newest = Math.max(...found.map((file) => file?.mtimeMs ?? 0));
  const fix = "Run: nightdesk backup FILE, on another disk";
  if (names.length === 0) {
    return [
      ok("DOCTOR_BACKUP_NONE", `There is no dump in ${folder} yet: the end of a batch writes one.`),
    ];
  }
  const days = (Date.now() - newest) / DAY_MS;
  const message = `The newest dump in ${folder} is ${days.toFixed(1)} days old.`;
  return [
    days > OLD_DAYS ? warn("DOCTOR_BACKUP_OLD", message, fix) : ok("DOCTOR_BACKUP_OK", message),
  ];
}

/** Checks whether a server archives its log. Dumps leave no trace in the database, so their absence is no fault. */
async function checkServerCopies(database: Database): Promise<Check> {
  const { archives, archived_s, is_failing, failed_file, standbys } =
    await selectServerCopies(database);
  const others = `standbys connected: ${standbys}`;
  if (!archives) {
    return ok(
      "DOCTOR_BACKUP_UNKNOWN",
      `The server archives no log (archive_mode is off; ${others}). Whether somebody dumps it by pg_dump, it does not know.`,
    );
  }
  if (is_failing) {
    return warn(
      "DOCTOR_BACKUP_FAILING",
      `The server could not archive ${failed_file ?? "its log"} (${others}): it keeps its log until it can, which fills the disk.`,
      "Look at archive_command and at the server's log.",
    );
  }
  const days = archived_s === null ? null : archived_s / 86_400;
  const message =
    days === null
      ? `The server has archived none of its log yet (${others}).`
      : `The server last archived its log ${days.toFixed(1)} days ago (${others}).`;
  return days !== null && days > OLD_DAYS
    ? warn("DOCTOR_BACKUP_OLD", message, "Set archive_timeout, or dump it: pg_dump")
    : ok("DOCTOR_BACKUP_OK", message);
}

const WENT_WELL = new Set([null, "succeeded", "queued", "running", "parked"]);

async function checkSchedules(database: Database, zone: string | null): Promise<readonly Check[]> {
  const last = await selectLastRuns(database);
  const enabled = (await selectSchedules(database)).filter((schedule) => schedule.enabled);
  return enabled.map(({ name }) => checkSchedule(name, last.get(name), zone));
}

function checkSchedule(name: string, run: LastRun | undefined, zone: string | null): Check {
  if (run === undefined) return ok("DOCTOR_SCHEDULE_OK", `Schedule ${name} has not run yet.`);
  const { plannedAt, state, code } = run;
  const time = zone === null ? plannedAt.toISOString() : formatInZone(plannedAt, zone, "seconds");
  const message = `Schedule ${name} was last planned for ${time}: ${state ?? "its batch is deleted"}`;
  return WENT_WELL.has(state)
    ? ok("DOCTOR_SCHEDULE_OK", `${message}.`)
    : warn(
        "DOCTOR_SCHEDULE_FAILED",
        `${message}${code === null ? "" : `, ${code}`}.`,
        `Look: nightdesk schedule list; once more, now: nightdesk schedule run ${name}`,
      );
}

/** Tolerance beyond the configured interval. */
const LATE_S = 120;

async function checkWatches({ index }: Config, database: Database): Promise<readonly Check[]> {
  const watched = index.sources.filter(({ watch }) => watch !== undefined);
  if (watched.length === 0) return [];
  const looks = new Map((await selectWatches(database)).map((look) => [look.source, look]));
  return watched.map(({ name, watch }) => checkWatch(name, watch?.every_s ?? 0, looks.get(name)));
}

type WatchState = Awaited<ReturnType<typeof selectWatches>>[number];

function checkWatch(name: string, everyS: number, look: WatchState | undefined): Check {
  const start = "Start a worker, which does: nightdesk worker";
  if (look === undefined)
    return warn(
      "DOCTOR_WATCH_LATE",
      `No worker has looked at the watched source ${name} yet.`,
      start,
    );
  const { age_s: ageS, files, restless, problem, unmoved, passed_over: passedOver, failed } = look;
  if (problem !== null)
    return warn(
      "DOCTOR_WATCH_FAILED",
      `The watched source ${name} can't be looked at: ${problem}.`,
      `Make the folder, or change index.sources`,
    );
  if (ageS > everyS + LATE_S)
    return warn(
      "DOCTOR_WATCH_LATE",
      `The last look at the watched source ${name} is ${Math.round(ageS)} s ago.`,
      start,
    );
  const bad = [
    ...(failed === 0 ? [] : [`${failed} whose jobs did not succeed`]),
    ...(passedOver === 0 ? [] : [`${passedOver} that the rules for labels passed over`]),
    ...(unmoved === 0 ? [] : [`${unmoved} that could not be moved`]),
  ];
  const message = `The watched source ${name} holds ${countOf(files, "file")}, ${restless} of them still changing`;
  return bad.length === 0
    ? ok("DOCTOR_WATCH_OK", `${message}.`)
    : warn(
        "DOCTOR_WATCH_FILES",
        `${message}; there were ${bad.join(", ")}.`,
        `Look: nightdesk sql "select path, state, label_state, label_problem, move_problem from watched_files"`,
      );
}

const LONG_HOURS = 24;

async function checkJobs(database: Database): Promise<readonly Check[]> {
  const stuck = await selectStuckJobs(database);
  const waiting = await selectLongWaiting(database, LONG_HOURS);
  return [
    stuck.length === 0
      ? ok("DOCTOR_JOBS_OK", "No running job has lost its worker.")
      : warn(
          "DOCTOR_JOBS_STUCK",
          `Jobs have lost their worker, and none takes them over: ${nameBatches(stuck)}.`,
          "Start a worker, which does: nightdesk worker",
        ),
    ...(waiting.length === 0
      ? []
      : [
          warn(
            "DOCTOR_APPROVALS_WAIT",
            `Jobs have waited for a person for more than ${LONG_HOURS} h: ${nameBatches(waiting)}.`,
            "Run: nightdesk approvals review",
          ),
        ]),
  ];
}

const nameBatches = (batches: readonly OverdueJobs[]): string =>
  batches
    .map(({ batch, jobs, hours }) => `${JSON.stringify(batch)} (${jobs}, ${hours.toFixed(1)} h)`)
    .join(", ");
