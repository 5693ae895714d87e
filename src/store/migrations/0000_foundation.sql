CREATE TABLE "artifacts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"attempt_id" uuid,
	"name" text NOT NULL,
	"digest" text NOT NULL,
	"bytes" bigint NOT NULL,
	"media_type" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "artifacts_name" UNIQUE("task_id","attempt_id","name")
);
--> statement-breakpoint
CREATE TABLE "attempts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"epoch" integer DEFAULT 0 NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"worker" text,
	"container_id" text,
	"failure" jsonb,
	"turns" integer DEFAULT 0 NOT NULL,
	"requested" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"queued_at" timestamp with time zone DEFAULT now() NOT NULL,
	"claimed_at" timestamp with time zone,
	"heartbeat_at" timestamp with time zone,
	"agent_started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	CONSTRAINT "attempts_number" UNIQUE("subtask_id","number")
);
--> statement-breakpoint
CREATE TABLE "usage" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"attempt_id" uuid NOT NULL,
	"channel" text NOT NULL,
	"model" text NOT NULL,
	"state" text NOT NULL,
	"tokens" integer NOT NULL,
	"prompt_tokens" integer DEFAULT 0 NOT NULL,
	"cached_tokens" integer DEFAULT 0 NOT NULL,
	"completion_tokens" integer DEFAULT 0 NOT NULL,
	"cost_micros" bigint DEFAULT 0 NOT NULL,
	"estimated" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "checkpoints" (
	"subtask_id" uuid NOT NULL,
	"turn" integer NOT NULL,
	"attempt_id" uuid NOT NULL,
	"messages" text NOT NULL,
	"tokens" integer NOT NULL,
	"patch" "bytea",
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "checkpoints_subtask_id_turn_pk" PRIMARY KEY("subtask_id","turn")
);
--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"ref" text NOT NULL,
	"task_id" uuid,
	"failure" jsonb NOT NULL,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"status" text DEFAULT 'dead' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor" text NOT NULL,
	"action" text NOT NULL,
	"subject" text NOT NULL,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"event" text NOT NULL,
	"action" text,
	"body" text NOT NULL,
	"status" text DEFAULT 'received' NOT NULL,
	"reason" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"received_at" timestamp with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "publications" (
	"key" text PRIMARY KEY NOT NULL,
	"task_id" uuid,
	"kind" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"github_id" bigint,
	"url" text,
	"fingerprint" text,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"failure" jsonb,
	"sent_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "result_index" (
	"key" text PRIMARY KEY NOT NULL,
	"family" text NOT NULL,
	"goal" text NOT NULL,
	"task_id" uuid NOT NULL,
	"entries" jsonb NOT NULL,
	"digest" text NOT NULL,
	"summary" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "candidates" (
	"subtask_id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"candidate" jsonb NOT NULL,
	"rounds" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "findings" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"subtask_id" uuid NOT NULL,
	"position" integer NOT NULL,
	"agent" text NOT NULL,
	"fingerprint" text NOT NULL,
	"path" text NOT NULL,
	"side" text NOT NULL,
	"start_line" integer NOT NULL,
	"end_line" integer NOT NULL,
	"severity" text NOT NULL,
	"confidence" real NOT NULL,
	"rule" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"quote" text NOT NULL,
	"replacement" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "findings_position" UNIQUE("subtask_id","position")
);
--> statement-breakpoint
CREATE TABLE "patches" (
	"subtask_id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"base_commit" text NOT NULL,
	"tree" text NOT NULL,
	"commit" text NOT NULL,
	"entries" jsonb NOT NULL,
	"digest" text NOT NULL,
	"verdict" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "triages" (
	"subtask_id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"triage" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"key" text PRIMARY KEY NOT NULL,
	"report" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dependencies" (
	"subtask_id" uuid NOT NULL,
	"depends_on" uuid NOT NULL,
	CONSTRAINT "dependencies_subtask_id_depends_on_pk" PRIMARY KEY("subtask_id","depends_on")
);
--> statement-breakpoint
CREATE TABLE "subtasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"row" integer NOT NULL,
	"kind" text DEFAULT 'agent' NOT NULL,
	"waits_for" text DEFAULT 'success' NOT NULL,
	"issue" integer,
	"title" text NOT NULL,
	"agent" text NOT NULL,
	"matrix" jsonb NOT NULL,
	"complexity" real NOT NULL,
	"path" real DEFAULT 0 NOT NULL,
	"weight" integer DEFAULT 1 NOT NULL,
	"fallbacks" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"depth" integer DEFAULT 0 NOT NULL,
	"parent" uuid,
	"status" text DEFAULT 'waiting' NOT NULL,
	"unmet" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"deaths" integer DEFAULT 0 NOT NULL,
	"verification_reruns" integer DEFAULT 0 NOT NULL,
	"conflict_reruns" integer DEFAULT 0 NOT NULL,
	"base" text,
	"feedback" text DEFAULT '' NOT NULL,
	"failure" jsonb,
	"summary" text DEFAULT '' NOT NULL,
	"refused" integer DEFAULT 0 NOT NULL,
	"not_before" timestamp with time zone,
	"started_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	CONSTRAINT "subtasks_row" UNIQUE("task_id","row")
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"key" text NOT NULL,
	"phase" text DEFAULT 'planning' NOT NULL,
	"outcome" text,
	"failure" jsonb,
	"installation_id" bigint NOT NULL,
	"repository_id" bigint NOT NULL,
	"owner" text NOT NULL,
	"repo" text NOT NULL,
	"subject" text DEFAULT 'pull_request' NOT NULL,
	"number" integer NOT NULL,
	"head_sha" text NOT NULL,
	"base_sha" text NOT NULL,
	"base_ref" text NOT NULL,
	"title" text NOT NULL,
	"body" text NOT NULL,
	"instruction" text DEFAULT '' NOT NULL,
	"issues" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"target_ref" text DEFAULT '' NOT NULL,
	"fork" boolean DEFAULT false NOT NULL,
	"start_after" timestamp with time zone,
	"trigger" jsonb NOT NULL,
	"config" jsonb,
	"priority" integer NOT NULL,
	"contract" text DEFAULT '' NOT NULL,
	"merge_base" text,
	"skipped" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"files_changed" integer DEFAULT 0 NOT NULL,
	"plan_attempts" integer DEFAULT 0 NOT NULL,
	"serial_reason" text DEFAULT '' NOT NULL,
	"plan_only" boolean DEFAULT false NOT NULL,
	"retries_used" integer DEFAULT 0 NOT NULL,
	"publish_tries" integer DEFAULT 0 NOT NULL,
	"publish_after" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"planned_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"finished_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tasks_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"name" text PRIMARY KEY NOT NULL,
	"capacity" integer NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"seen_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "artifacts" ADD CONSTRAINT "artifacts_attempt_id_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."attempts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attempts" ADD CONSTRAINT "attempts_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage" ADD CONSTRAINT "usage_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkpoints" ADD CONSTRAINT "checkpoints_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "checkpoints" ADD CONSTRAINT "checkpoints_attempt_id_attempts_id_fk" FOREIGN KEY ("attempt_id") REFERENCES "public"."attempts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dead_letters" ADD CONSTRAINT "dead_letters_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "publications" ADD CONSTRAINT "publications_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "result_index" ADD CONSTRAINT "result_index_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "candidates" ADD CONSTRAINT "candidates_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "candidates" ADD CONSTRAINT "candidates_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "findings" ADD CONSTRAINT "findings_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patches" ADD CONSTRAINT "patches_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patches" ADD CONSTRAINT "patches_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triages" ADD CONSTRAINT "triages_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triages" ADD CONSTRAINT "triages_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dependencies" ADD CONSTRAINT "dependencies_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dependencies" ADD CONSTRAINT "dependencies_depends_on_subtasks_id_fk" FOREIGN KEY ("depends_on") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "subtasks" ADD CONSTRAINT "subtasks_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "attempts_one_live" ON "attempts" USING btree ("subtask_id") WHERE "attempts"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "attempts_live" ON "attempts" USING btree ("status") WHERE "attempts"."status" in ('queued', 'running');--> statement-breakpoint
CREATE INDEX "attempts_task" ON "attempts" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "usage_task" ON "usage" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "usage_channel" ON "usage" USING btree ("channel","created_at" DESC NULLS LAST) WHERE "usage"."state" = 'settled';--> statement-breakpoint
CREATE INDEX "checkpoints_attempt" ON "checkpoints" USING btree ("attempt_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_one" ON "dead_letters" USING btree ("kind","ref") WHERE "dead_letters"."status" = 'dead';--> statement-breakpoint
CREATE INDEX "dead_letters_task" ON "dead_letters" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "audit_at" ON "audit" USING btree ("at");--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("received_at") WHERE "deliveries"."status" = 'received';--> statement-breakpoint
CREATE INDEX "publications_task" ON "publications" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "publications_open_checks" ON "publications" USING btree ("sent_at") WHERE "publications"."kind" = 'check_run' and "publications"."detail"->>'concluded' is distinct from 'true';--> statement-breakpoint
CREATE INDEX "result_index_family" ON "result_index" USING btree ("family","created_at");--> statement-breakpoint
CREATE INDEX "findings_task" ON "findings" USING btree ("task_id");--> statement-breakpoint
CREATE INDEX "dependencies_on" ON "dependencies" USING btree ("depends_on");--> statement-breakpoint
CREATE INDEX "subtasks_running" ON "subtasks" USING btree ("task_id") WHERE "subtasks"."status" = 'running';--> statement-breakpoint
CREATE INDEX "subtasks_ready" ON "subtasks" USING btree ("task_id","unmet","path" DESC NULLS LAST,"row") WHERE "subtasks"."status" = 'waiting';--> statement-breakpoint
CREATE INDEX "subtasks_pausing" ON "subtasks" USING btree ("task_id","not_before") WHERE "subtasks"."status" = 'waiting' and "subtasks"."not_before" is not null;--> statement-breakpoint
CREATE INDEX "tasks_open" ON "tasks" USING btree ("phase") WHERE "tasks"."phase" <> 'finished';--> statement-breakpoint
CREATE INDEX "tasks_head" ON "tasks" USING btree ("repository_id","head_sha");--> statement-breakpoint
CREATE INDEX "tasks_pull" ON "tasks" USING btree ("repository_id","number");