import { playNight } from "./play-night.ts";

playNight("postgres", { rounds: 1, each: 1 });
playNight("embedded", { rounds: 1, each: 1 });
