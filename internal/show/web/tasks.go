package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/know/model"
)

// noTasks returns the answer where the program has no annotations: most have none.
func noTasks() error {
	return missing("this run has no user tasks", "runtime/trace's NewTask, WithRegion and Log make them")
}

// tasks answers GET api/tasks: what the program itself calls its work.
func (v *View) tasks(url.Values) (any, error) {
	m := v.Model.Tasks
	if m == nil {
		return nil, noTasks()
	}
	t := &Tasks{}
	slow := map[string][]Task{}
	for i := range m.Slow {
		s := &m.Slow[i]
		slow[s.Name] = append(slow[s.Name], taskOf(s))
	}
	for i := range m.Tasks {
		of := &m.Tasks[i]
		t.Tasks = append(t.Tasks, TaskType{
			Name: name(of.Name), Count: of.Count, Open: of.Count - of.Complete,
			Latency: histogram(&of.Latency), Slow: slow[of.Name],
		})
	}
	for i := range m.Regions {
		of := &m.Regions[i]
		t.Regions = append(t.Regions, RegionType{
			Name: name(of.Name), Count: of.Count, Open: of.Open, Latency: histogram(&of.Latency), States: stateTotals(&of.Times),
		})
	}
	for _, l := range m.Logs {
		t.Logs = append(t.Logs, LogCount{Category: name(l.Category), Count: l.Count, Example: name(l.Example)})
	}
	return t, nil
}

func taskOf(t *model.Task) Task {
	task := Task{
		ID: decimal(t.ID), Parent: decimal(t.Parent), Name: name(t.Name),
		FromNS: max(int64(t.Begin), 0), ToNS: int64(t.End), Logs: t.Logs,
	}
	if t.End < 0 {
		task.ToNS = -1
	}
	return task
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }

// task answers GET api/task: one task with its own timeline.
func (v *View) task(q url.Values) (any, error) {
	if v.Model.Tasks == nil {
		return nil, noTasks()
	}
	id, err := strconv.ParseUint(q.Get("id"), 10, 64)
	if err != nil {
		return nil, misuse("id=%s is no task's number", short(q.Get("id")))
	}
	i := slices.IndexFunc(v.Model.Tasks.Slow, func(t model.Task) bool { return t.ID == id })
	if i < 0 {
		return nil, missing("task "+decimal(id)+" is not among those kept", "the slowest tasks of each name are")
	}
	task := taskOf(&v.Model.Tasks.Slow[i])
	return &task, v.detail(&task, id)
}

// taskPatience is how long reading a task's pieces may take.
const taskPatience = 20 * time.Second

// detail fills in a task's regions and logs. These are not kept: the trace is read
// again where the task lived.
func (v *View) detail(task *Task, id uint64) error {
	if v.Timeline == nil {
		task.Note = "regions and logs are in the trace, which is not open"
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), taskPatience)
	defer stop()
	to := time.Duration(task.ToNS)
	if to < 0 {
		to = v.duration()
	}
	d, err := v.Timeline.Task(ctx, id, time.Duration(task.FromNS), to)
	if err != nil {
		return timeProblem(err)
	}
	task.Note = d.Cut
	for _, r := range d.Regions {
		task.Regions = append(task.Regions, TaskRegion{Name: name(r.Name), Goroutine: r.Goroutine, FromNS: int64(r.From), ToNS: int64(r.To)})
	}
	slices.SortStableFunc(task.Regions, func(a, b TaskRegion) int { return cmp.Compare(a.FromNS, b.FromNS) })
	for _, l := range d.Logs {
		task.Lines = append(task.Lines, LogLine{AtNS: int64(l.At), Goroutine: l.Goroutine, Category: name(l.Category), Message: name(l.Message)})
	}
	slices.SortStableFunc(task.Lines, func(a, b LogLine) int { return cmp.Compare(a.AtNS, b.AtNS) })
	return nil
}

// stateTotals are times by state, those of none left out, waits by their reasons.
func stateTotals(t *model.Times) (list []StateTotal) {
	add := func(state, reason string, d time.Duration) {
		if d > 0 {
			list = append(list, StateTotal{State: state, Reason: reason, NS: int64(d)})
		}
	}
	add("running", "", t.Running)
	add("runnable", "", t.Runnable)
	add("syscall", "", t.Syscall+t.SyscallBlocked)
	for _, r := range statistics.Largest(t.Blocked) {
		add("waiting", name(r), t.Blocked[r])
	}
	add("unknown", "", t.Unknown)
	return list
}

// histogram returns a distribution with those buckets that have something.
func histogram(h *model.Histogram) Histogram {
	out := Histogram{
		P50NS: int64(h.Quantile(0.5)), P90NS: int64(h.Quantile(0.9)), P99NS: int64(h.Quantile(0.99)),
		MaxNS: int64(h.Max), MeanNS: int64(h.Mean()), N: h.N,
	}
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low, high := model.HistogramBounds(i)
		out.LowNS, out.HighNS, out.Counts = append(out.LowNS, int64(low)), append(out.HighNS, int64(high)), append(out.Counts, n)
	}
	return out
}
