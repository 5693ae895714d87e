CREATE TABLE "candidates" (
	"subtask_id" uuid PRIMARY KEY NOT NULL,
	"task_id" uuid NOT NULL,
	"candidate" jsonb NOT NULL,
	"rounds" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
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
ALTER TABLE "subtasks" ADD COLUMN "kind" text DEFAULT 'agent' NOT NULL;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "waits_for" text DEFAULT 'success' NOT NULL;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "issue" integer;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "subject" text DEFAULT 'pull_request' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "instruction" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "issues" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "target_ref" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "fork" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "tasks" ADD COLUMN "start_after" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "candidates" ADD CONSTRAINT "candidates_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "candidates" ADD CONSTRAINT "candidates_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patches" ADD CONSTRAINT "patches_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "patches" ADD CONSTRAINT "patches_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triages" ADD CONSTRAINT "triages_subtask_id_subtasks_id_fk" FOREIGN KEY ("subtask_id") REFERENCES "public"."subtasks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "triages" ADD CONSTRAINT "triages_task_id_tasks_id_fk" FOREIGN KEY ("task_id") REFERENCES "public"."tasks"("id") ON DELETE cascade ON UPDATE no action;