/**
 * Where the story is played: on a real coderd, or on the simulated one. Things are called by the names that the story gives
 * them; each stage knows their ids.
 */
import type { CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { Transition } from '../../../simulator/coderd/tables/transition.ts';
import type { UserStatus } from '../../../simulator/coderd/tables/users.ts';
import type { Names } from './names.ts';

/** `template-admin` is the role of the site, which reads no jobs. */
export type Role = 'owner' | 'organization-template-admin' | 'template-admin' | 'member';

/** How the jobs of a template version go: milliseconds, and whether they fail. */
export type Script = {
  readonly import?: { readonly ms?: number; readonly fails?: boolean };
} & { readonly [Key in Transition]?: { readonly ms?: number; readonly fails?: boolean } };

export type NewVersion = {
  readonly name: string;
  /** The template that it is a version of. @default none yet */
  readonly template?: string;
  readonly tags: Tags;
  readonly script?: Script;
  /** A tag whose value is that of the parameter of the same name, with this default (`coder_workspace_tags`). */
  readonly parameter?: { readonly name: string; readonly value: string };
};

export type NewWorkspace = {
  readonly name: string;
  readonly template: string;
  readonly owner: string;
  /** Who asks for it and for its builds: a token that is used makes a dormant user active. @default the owner */
  readonly by?: string;
  readonly schedule?: string;
  readonly ttlMs?: number;
  readonly parameters?: Tags;
};

export type Question = {
  readonly method?: 'GET' | 'POST';
  /** From `/api/v2` on, with names in braces for their ids: `/organizations/{organization}/members`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: unknown;
  /** Who asks, by the name of the user; `nobody` sends no token. @default the first user */
  readonly as?: string;
};

export type Answer = { readonly status: number; readonly body: unknown };

/** What coderd said to something that was to be done. */
export type Outcome = 'done' | { readonly status: number; readonly message: string };

/** Builds that the lifecycle executor has made, and what it could not make, by workspace. */
export type Tick = {
  readonly transitions: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
};

export interface Stage {
  /** As coderd tells it. */
  readonly version: string;
  readonly names: Names;
  now(): EpochMs;
  /** Asks coderd, and takes what comes. */
  ask(question: Question): Promise<Answer>;
  /** What the product asks coderd with. */
  http(as: string): CoderdHttp;

  addUser(user: { readonly name: string; readonly role: Role; readonly status: UserStatus }): Promise<void>;
  setUserStatus(name: string, status: UserStatus): Promise<void>;
  importVersion(version: NewVersion): Promise<Outcome>;
  cancelImport(version: string): Promise<Outcome>;
  addTemplate(template: { readonly name: string; readonly version: string }): Promise<Outcome>;
  activate(template: string, version: string): Promise<Outcome>;
  addWorkspace(workspace: NewWorkspace): Promise<Outcome>;
  build(workspace: string, transition: Transition, parameters?: Tags): Promise<Outcome>;
  cancelBuild(workspace: string): Promise<Outcome>;
  setSchedule(workspace: string, schedule: string | undefined): Promise<Outcome>;
  setTtl(workspace: string, ttlMs: number | undefined): Promise<Outcome>;

  /** Starts a daemon, and returns once it is connected. */
  startDaemon(name: string, tags: Tags): Promise<void>;
  /** `terminate`: as by SIGTERM, and returns once it is gone. `kill`: as by SIGKILL. */
  stopDaemon(name: string, how: 'terminate' | 'kill'): Promise<void>;
  /** Runs the lifecycle executor once, as if it were that time. */
  tick(at: EpochMs): Promise<Tick>;
  /** A state that no request brings about: the daemon was seen last at that time. */
  setLastSeen(daemon: string, at: EpochMs): Promise<void>;
  /** A state that no request brings about: the workspace has lost its next_start_at. */
  forgetNextStart(workspace: string): Promise<void>;
  /** Waits until it is so. Throws after 20 s. */
  until(what: string, isSo: () => Promise<boolean>): Promise<void>;
}
