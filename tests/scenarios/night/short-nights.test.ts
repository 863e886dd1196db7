import { playNight } from "./play-night.ts";

playNight("postgres", 160);
playNight("embedded", 160);
