import { readdirSync, readFileSync } from "node:fs";

/** Watches the processes below this one. `stop` gives the bytes that the largest held at its highest. Linux only. */
export function watchChildren(): { readonly stop: () => number } {
  let peak = 0;
  const look = () => {
    const statuses = new Map(readdirSync("/proc").flatMap(statusOf));
    for (const { parent, bytes } of statuses.values()) {
      let above: number | undefined = parent;
      while (above !== undefined && above !== process.pid) above = statuses.get(above)?.parent;
      if (above === process.pid) peak = Math.max(peak, bytes);
    }
  };
  const timer = setInterval(look, 50);
  return {
    stop: () => {
      look();
      clearInterval(timer);
      return peak;
    },
  };
}

function statusOf(name: string): [pid: number, status: { parent: number; bytes: number }][] {
  if (!/^\d+$/.test(name)) return [];
  try {
    const status = readFileSync(`/proc/${name}/status`, "latin1");
    const field = (pattern: RegExp) => Number(pattern.exec(status)?.[1] ?? 0);
    return [
      [
        Number(name),
        { parent: field(/^PPid:\s+(\d+)$/m), bytes: field(/^VmHWM:\s+(\d+) kB$/m) * 1_024 },
      ],
    ];
  } catch {
    return []; // It ended meanwhile.
  }
}
