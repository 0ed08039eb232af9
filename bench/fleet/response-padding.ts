/**
 * Fields of coderd's lists that the autoscaler does not read. They give answers a realistic size
 * and depth.
 */

const AT = '2026-03-02T08:12:44.125907Z';
const USER = {
  id: '2a2c0b8e-6a5b-4b2f-a6d5-1c4bd0c5b1aa',
  username: 'development',
  avatar_url: 'https://avatars.githubusercontent.com/u/12345678?v=4',
};

const APPS = ['code-server', 'jetbrains-gateway', 'filebrowser', 'preview'].map((slug, index) => ({
  id: `6f1d3c2b-0000-4000-a000-00000000000${index}`,
  url: `http://localhost:1333${index}/?folder=/home/coder/project`,
  external: false,
  slug,
  display_name: slug,
  icon: `/icon/${slug}.svg`,
  subdomain: true,
  subdomain_name: `${slug}--main--development--user`,
  sharing_level: 'owner',
  healthcheck: { url: `http://localhost:1333${index}/healthz`, interval: 5, threshold: 6 },
  health: 'healthy',
  hidden: false,
  open_in: 'slim-window',
  statuses: [],
}));

const SCRIPTS = ['startup', 'dotfiles', 'git-clone'].map((name, index) => ({
  id: `7a1d3c2b-0000-4000-a000-00000000000${index}`,
  log_source_id: `8b1d3c2b-0000-4000-a000-00000000000${index}`,
  log_path: `coder-script-${name}.log`,
  script: `#!/usr/bin/env bash\nset -euo pipefail\n\n# ${name}\nif [ ! -f ~/.${name}-done ]; then\n  mkdir -p ~/project && cd ~/project\n  curl -fsSL https://example.com/install/${name}.sh | sh -s -- --method=standalone --prefix=/tmp/${name}\n  touch ~/.${name}-done\nfi\n`,
  cron: '',
  run_on_start: true,
  run_on_stop: false,
  start_blocks_login: false,
  timeout: 0,
  display_name: name,
  exit_code: 0,
  status: 'ok',
}));

const AGENT = {
  id: '9c1d3c2b-1111-4000-a000-000000000000',
  parent_id: null,
  created_at: AT,
  updated_at: AT,
  first_connected_at: AT,
  last_connected_at: AT,
  started_at: AT,
  ready_at: AT,
  status: 'connected',
  lifecycle_state: 'ready',
  name: 'main',
  architecture: 'amd64',
  operating_system: 'linux',
  environment_variables: {
    GIT_AUTHOR_EMAIL: 'development@example.com',
    GIT_AUTHOR_NAME: 'Development',
    GIT_COMMITTER_EMAIL: 'development@example.com',
    GIT_COMMITTER_NAME: 'Development',
  },
  directory: '/home/coder/project',
  expanded_directory: '/home/coder/project',
  version: 'v2.30.0+0000000',
  api_version: '2.8',
  apps: APPS,
  latency: {
    Frankfurt: { preferred: true, latency_ms: 7.527 },
    Dublin: { preferred: false, latency_ms: 31.22 },
  },
  connection_timeout_seconds: 120,
  troubleshooting_url: 'https://coder.com/docs/templates#troubleshooting-templates',
  subsystems: ['envbox', 'exectrace'],
  health: { healthy: true },
  display_apps: ['vscode', 'vscode_insiders', 'web_terminal', 'port_forwarding_helper', 'ssh_helper'],
  log_sources: SCRIPTS.map(({ log_source_id, display_name }) => ({
    workspace_agent_id: '9c1d3c2b-1111-4000-a000-000000000000',
    id: log_source_id,
    created_at: AT,
    display_name,
    icon: '/icon/widgets.svg',
  })),
  scripts: SCRIPTS,
  logs_length: 2_048,
  logs_overflowed: false,
  startup_script_behavior: 'non-blocking',
};

const RESOURCES = ['kubernetes_deployment', 'kubernetes_persistent_volume_claim'].map((type, index) => ({
  id: `ac1d3c2b-0000-4000-a000-00000000000${index}`,
  created_at: AT,
  job_id: 'bc1d3c2b-0000-4000-a000-000000000000',
  workspace_transition: 'start',
  type,
  name: 'main',
  hide: false,
  icon: '/icon/k8s.png',
  ...(index === 0 ? { agents: [AGENT] } : {}),
  metadata: ['namespace', 'cpu', 'memory', 'storage'].map((key) => ({ key, value: '8', sensitive: false })),
  daily_cost: 0,
}));

/** Fields of a workspace. Its row has between 8 and 9 KB with all fields below. */
export const WORKSPACE = {
  created_at: AT,
  updated_at: AT,
  owner_id: USER.id,
  owner_name: USER.username,
  owner_avatar_url: USER.avatar_url,
  organization_name: 'default',
  template_name: 'kubernetes',
  template_display_name: 'Kubernetes (Deployment)',
  template_icon: '/icon/k8s.png',
  template_allow_user_cancel_workspace_jobs: false,
  template_require_active_version: false,
  template_use_classic_parameter_flow: false,
  latest_app_status: null,
  outdated: false,
  name: 'development',
  ttl_ms: 36_000_000,
  health: { healthy: true, failing_agents: [] },
  automatic_updates: 'never',
  allow_renames: false,
  favorite: false,
  task_id: null,
};

/** Fields of its latest build. */
export const BUILD = {
  updated_at: AT,
  workspace_name: 'development',
  workspace_owner_id: USER.id,
  workspace_owner_name: USER.username,
  workspace_owner_avatar_url: USER.avatar_url,
  template_version_name: 'wonderful_albattani1',
  build_number: 42,
  initiator_id: USER.id,
  initiator_name: USER.username,
  resources: RESOURCES,
  status: 'running',
  daily_cost: 0,
  matched_provisioners: { count: 4, available: 2, most_recently_seen: AT },
  template_version_preset_id: null,
};

/**
 * Fields of a template. `P50` and `P95` are capitalized as in coderd (docs/internals/coder.md §10).
 */
export const TEMPLATE = {
  created_at: AT,
  updated_at: AT,
  organization_name: 'default',
  organization_display_name: 'Default',
  organization_icon: '',
  name: 'kubernetes',
  display_name: 'Kubernetes (Deployment)',
  provisioner: 'terraform',
  active_user_count: 50,
  build_time_stats: {
    start: { P50: 58_211, P95: 121_034 },
    stop: { P50: 31_702, P95: 60_117 },
    delete: { P50: 33_450, P95: 71_902 },
  },
  description: 'Provision Kubernetes Deployments as Coder workspaces',
  deprecated: false,
  deprecation_message: '',
  icon: '/icon/k8s.png',
  default_ttl_ms: 36_000_000,
  activity_bump_ms: 3_600_000,
  autostop_requirement: { days_of_week: [], weeks: 1 },
  created_by_id: USER.id,
  created_by_name: USER.username,
  allow_user_autostop: true,
  allow_user_cancel_workspace_jobs: false,
  require_active_version: false,
  max_port_share_level: 'owner',
  use_classic_parameter_flow: false,
};
