/** A scenario: the data from which the generator makes a trace. People, templates, bursts and outages. */
import type { Tags } from '../../../../lambda/decision/model/tags.ts';

/** Median and 95th percentile of a lognormal distribution, in seconds. */
export type Spread = { readonly p50: number; readonly p95: number };

export type Template = {
  readonly name: string;
  readonly organization: string;
  readonly tags: Tags;
  readonly start: Spread;
  readonly stop: Spread;
  readonly import: Spread;
  /** Default hours until coderd stops a workspace. */
  readonly ttlHours: number;
  /** New active versions per week, in the working hours of the maintainers. */
  readonly pushesPerWeek: number;
  /** IANA name of the maintainers' time zone. */
  readonly timezone: string;
  readonly prebuilds?: Prebuilds;
};

/** The prebuilt workspaces of all presets of a template together. */
export type Prebuilds = {
  /** Tags of their jobs: those of the template, often with one more tag. */
  readonly tags: Tags;
  readonly instances: number;
  /** Instances at night and at weekends, from the schedule of the preset. */
  readonly instancesAtNight: number;
  /** Duration of a build that claims a prebuilt workspace. */
  readonly claim: Spread;
};

export type PeopleGroup = {
  readonly users: number;
  /** IANA name. */
  readonly timezone: string;
  /** Weight of each template, by name: the share of people whose workspace has it. */
  readonly templates: Readonly<Record<string, number>>;
  /** Median arrival time, in minutes since midnight. */
  readonly arrivalMinute: number;
  /** Share of workspaces with an autostart schedule, 0 to 1. */
  readonly autostartShare: number;
  /** Workspaces that a person at work creates for a single task, per day. */
  readonly freshPerDay: number;
  /** Days with few people at work: `12-25` for every year, or `2026-04-06`. */
  readonly holidays: readonly string[];
};

/** Many builds at once, at a time that no schedule predicts: CI, a workshop, AI agents. */
export type Bursts = {
  readonly template: string;
  /** Mean number of bursts per day, without those that follow from another burst. */
  readonly perDay: number;
  /** The minutes since midnight between which bursts begin, in the time zone of the scenario. */
  readonly between: readonly [fromMinute: number, toMinute: number];
  /** Fewest and most builds of one burst. Small bursts are more frequent. */
  readonly size: readonly [from: number, to: number];
  /** Seconds over which the builds of one burst are spread. */
  readonly withinSeconds: number;
  /** 0 to 1 that another burst follows, and the mean minutes until it begins. @default none follows */
  readonly again?: { readonly chance: number; readonly afterMinutes: number };
  /** Fewest and most minutes until the workspace is deleted by hand. @default it is never deleted */
  readonly livesMinutes?: readonly [from: number, to: number];
};

type PlannedOutage = {
  /** Days after the first day. */
  readonly day: number;
  /** Minutes since midnight in the time zone of the scenario. */
  readonly minute: number;
  readonly seconds: number;
};

export type Scenario = {
  readonly name: string;
  readonly description: string;
  /** Path of its configuration, from the root of the project. */
  readonly config: string;
  /** IANA name of the time zone of days and hours of the week. */
  readonly timezone: string;
  readonly from: string;
  readonly templates: readonly Template[];
  readonly groups: readonly PeopleGroup[];
  /** @default none */
  readonly bursts?: readonly Bursts[];
  readonly outages: readonly PlannedOutage[];
  /** Seconds from the creation of a task to its daemon, shortest and longest. */
  readonly startSeconds: readonly [from: number, to: number];
};
