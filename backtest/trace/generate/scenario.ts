/** What a made-up deployment of Coder is like: who works when, on which templates. All of it is data. */
import type { Tags } from '../../../lambda/decision/model/tags.ts';

/** Seconds: half of the builds take no longer than `p50`, 19 of 20 no longer than `p95`; lognormal between and beyond. */
export type Spread = { readonly p50: number; readonly p95: number };

export type Template = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly start: Spread;
  readonly stop: Spread;
  readonly import: Spread;
  /** How long a workspace runs by default, before coderd stops it. */
  readonly ttlHours: number;
  /** New active versions, in the working hours of those who maintain it. */
  readonly pushesPerWeek: number;
  /** IANA name: where those who maintain it work. */
  readonly timezone: string;
  readonly prebuilds?: Prebuilds;
};

/** Workspaces that coderd keeps ready, of all presets of a template together. */
export type Prebuilds = {
  /** Of their jobs: those of the template, often with a tag of their own. */
  readonly tags: Tags;
  readonly instances: number;
  /** In the night and at weekends (a preset's schedule). */
  readonly instancesAtNight: number;
  /** What a person's build takes that claims one. */
  readonly claim: Spread;
};

/** People with the same habits. */
export type Group = {
  readonly users: number;
  /** IANA name. */
  readonly timezone: string;
  /** Templates by name: how many of ten people have their workspace of it. */
  readonly templates: Readonly<Record<string, number>>;
  /** Minutes since midnight: when half of them have come. */
  readonly arrivalMinute: number;
  /** Workspaces that start by a schedule, 0 to 1. */
  readonly autostartShare: number;
  /** Workspaces that a person at work creates for a task, a day; deleted when it is done. */
  readonly freshPerDay: number;
  /** Days on which few come: `12-25` every year, or `2026-04-06`. */
  readonly holidays: readonly string[];
};

/** Builds that somebody or something asks for all at once, at a time that no calendar foretells: CI, a workshop, AI agents. */
export type Bursts = {
  /** The template's name. */
  readonly template: string;
  /** How many bursts a day begins by itself, on average; they come at random. */
  readonly perDay: number;
  /** Minutes since midnight by the scenario's clock: when they begin, from and to. */
  readonly between: readonly [fromMinute: number, toMinute: number];
  /** Builds of one burst, the least and the most; small bursts are more frequent. */
  readonly size: readonly [from: number, to: number];
  /** The builds of one burst are spread over so many seconds. */
  readonly withinSeconds: number;
  /** The chance, 0 to 1, that one burst brings another; and how many minutes later that begins, on average. @default none does */
  readonly again?: { readonly chance: number; readonly afterMinutes: number };
  /** How long a workspace lives until it is deleted by hand, from and to. @default it stays */
  readonly livesMinutes?: readonly [from: number, to: number];
};

/** In which coderd answers nobody. */
export type PlannedOutage = {
  /** Days after the first. */
  readonly day: number;
  /** Minutes since midnight by the scenario's clock. */
  readonly minute: number;
  readonly seconds: number;
};

export type Scenario = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The configuration it is meant for: a file of this project. */
  readonly config: string;
  /** IANA name: by its clock days begin, and the hours of the week are told. */
  readonly timezone: string;
  /** The first day, where none is asked for: `2026-03-02`. */
  readonly from: string;
  readonly templates: readonly Template[];
  readonly groups: readonly Group[];
  /** @default none */
  readonly bursts?: readonly Bursts[];
  readonly outages: readonly PlannedOutage[];
  /** From a task's creation to its daemon. */
  readonly startSeconds: readonly [from: number, to: number];
};
