/**
 * The interface to the coderd on which the story is played, real or simulated. The story uses names
 * for all objects; each stage knows their ids.
 */
import type { CoderdHttp } from '../../../lambda/adapters/coderd/http/http.ts';
import type { EpochMs } from '../../../lambda/decision/model/brands.ts';
import type { Tags } from '../../../lambda/decision/model/tags.ts';
import type { UserStatus } from '../../../simulator/coderd/tables/users.ts';
import type { Names } from './names.ts';
import type { Transition } from '../../../simulator/coderd/tables/templates.ts';

/** `template-admin` is the site-wide role, which cannot read jobs. */
export type Role = 'owner' | 'organization-template-admin' | 'template-admin' | 'member';

/** How the jobs of a template version behave: duration in milliseconds, and whether they fail. */
export type Script = {
  readonly import?: { readonly ms?: number; readonly fails?: boolean };
} & { readonly [Key in Transition]?: { readonly ms?: number; readonly fails?: boolean } };

export type NewVersion = {
  readonly name: string;
  /** The template of which it is a version. @default none yet */
  readonly template?: string;
  readonly tags: Tags;
  readonly script?: Script;
  /**
   * A tag whose value is the value of the parameter with the same name; `value` is its default
   * (`coder_workspace_tags`).
   */
  readonly parameter?: { readonly name: string; readonly value: string };
};

export type NewWorkspace = {
  readonly name: string;
  readonly template: string;
  readonly owner: string;
  /**
   * The user who asks for it and its builds; using a token makes a dormant user active. @default
   * the owner
   */
  readonly by?: string;
  readonly schedule?: string;
  readonly ttlMs?: number;
  readonly parameters?: Tags;
};

export type Question = {
  readonly method?: 'GET' | 'POST';
  /**
   * The path after `/api/v2`, with names in braces instead of ids:
   * `/organizations/{organization}/members`.
   */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: unknown;
  /** The name of the user who asks; `nobody` sends no token. @default the first user */
  readonly as?: string;
};

export type Answer = { readonly status: number; readonly body: unknown };

/** The result of a change: done, or coderd's refusal. */
export type StageOutcome = 'done' | { readonly status: number; readonly message: string };

/** The builds that the lifecycle executor has started, and its errors, by workspace. */
export type Tick = {
  readonly transitions: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<string, string>>;
};

export interface Stage {
  /** The version that coderd reports. */
  readonly version: string;
  readonly names: Names;
  now(): EpochMs;
  /** Asks coderd, and returns any answer. */
  ask(question: Question): Promise<Answer>;
  /** The product's HTTP client, with this user's token. */
  http(as: string): CoderdHttp;

  addUser(user: { readonly name: string; readonly role: Role; readonly status: UserStatus }): Promise<void>;
  setUserStatus(name: string, status: UserStatus): Promise<void>;
  importVersion(version: NewVersion): Promise<StageOutcome>;
  cancelImport(version: string): Promise<StageOutcome>;
  addTemplate(template: { readonly name: string; readonly version: string }): Promise<StageOutcome>;
  activate(template: string, version: string): Promise<StageOutcome>;
  addWorkspace(workspace: NewWorkspace): Promise<StageOutcome>;
  build(workspace: string, transition: Transition, parameters?: Tags): Promise<StageOutcome>;
  cancelBuild(workspace: string): Promise<StageOutcome>;
  setSchedule(workspace: string, schedule: string | undefined): Promise<StageOutcome>;
  setTtl(workspace: string, ttlMs: number | undefined): Promise<StageOutcome>;

  /** Starts a daemon, and returns once it is connected. */
  startDaemon(name: string, tags: Tags): Promise<void>;
  /** `terminate` acts like SIGTERM, `kill` like SIGKILL. Returns once the daemon is gone. */
  stopDaemon(name: string, how: 'terminate' | 'kill'): Promise<void>;
  /** Runs the lifecycle executor once, as of `at`. */
  tick(at: EpochMs): Promise<Tick>;
  /** Sets when the daemon was last seen: a state that no request can create. */
  setLastSeen(daemon: string, at: EpochMs): Promise<void>;
  /** Removes the workspace's next_start_at: a state that no request can create. */
  forgetNextStart(workspace: string): Promise<void>;
  /**
   * Waits until `isSo` resolves to true.
   * @throws ConformanceError after a timeout: 20 s on a real coderd, 120 s of virtual time on the
   * simulated one
   */
  until(what: string, isSo: () => Promise<boolean>): Promise<void>;
}
