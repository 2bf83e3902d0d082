// The tasks in three columns. A button moves a task, and the Markdown file with it.

const COLUMNS = [
  ["todo", () => words("To do", "未着手")],
  ["in_progress", () => words("In progress", "進行中")],
  ["done", () => words("Done", "完了")],
];

draw = (answer) => {
  const column = ([status, title]) => {
    const tasks = answer.tasks.filter((task) => task.status === status);
    return make("section", { "aria-label": title() },
      make("h2", {}, `${title()} (${tasks.length})`),
      make("ul", {}, tasks.map(card)));
  };
  const more = answer.total_count - answer.tasks.length;
  show(
    make("div", { class: "board" }, COLUMNS.map(column)),
    answer.message && make("p", { class: "hint" }, answer.message),
    more > 0 && make("p", { class: "hint" }, words(`${more} more tasks are not shown.`, `ほかに${more}件あります。`)));
};

function card(task) {
  const facts = [
    task.task_id,
    task.category,
    task.due && words(`due ${task.due}`, `期限 ${task.due}`),
    task.subtasks_count > 0 && `${task.subtasks_done ?? 0}/${task.subtasks_count}`,
    task.blocked_by?.length && words(`waits for ${task.blocked_by.join(", ")}`, `${task.blocked_by.join("、")}待ち`),
  ];
  const others = COLUMNS.filter(([status]) => status !== task.status && task.task_id);
  const button = ([status, title]) =>
    make("button", { type: "button", "aria-label": `${task.title}: ${title()}`, onclick: () => attempt(() => move(task, status)) },
      `→ ${title()}`);
  return make("li", {},
    make("strong", {}, task.title),
    make("p", { class: "hint" }, facts.filter(Boolean).join(" · ")),
    make("p", { class: "buttons" }, others.map(button)));
}

async function move(task, status) {
  await call("update_task", { task_id: task.task_id, status });
  draw(await call("list_tasks", input));
  say(`${task.title}: ${COLUMNS.find(([name]) => name === status)[1]()}`);
  tell(`The user set task ${task.task_id} to ${status}.`);
}
