import { playNight } from "./play-night.ts";

playNight("redis+postgres", { rounds: 2, each: 3 });
