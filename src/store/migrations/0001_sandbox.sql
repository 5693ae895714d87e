CREATE TABLE "failed_setups" (
	"key" text PRIMARY KEY NOT NULL,
	"repository_id" bigint NOT NULL,
	"failure" jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "verifications" ADD COLUMN "repository_id" bigint;--> statement-breakpoint
ALTER TABLE "verifications" ADD COLUMN "peak_mib" integer;--> statement-breakpoint
ALTER TABLE "subtasks" ADD COLUMN "memory_mib" integer;--> statement-breakpoint
CREATE INDEX "verifications_memory" ON "verifications" USING btree ("repository_id","created_at" DESC NULLS LAST);