// Gocronvisits reminds the patients of a practice of their visits. The list of visits is
// read again and again, and who is to be reminded later gets a job.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/go-co-op/gocron/v2"
)

type visit struct {
	patient string
	remind  time.Time
}

// list is what the practice's calendar says: of most visits, reminders are over.
func list(now time.Time) (visits []visit) {
	for i := range 400 {
		at := now.Add(-time.Duration(i) * time.Minute)
		if i%100 == 7 {
			at = now.Add(200 * time.Millisecond)
		}
		visits = append(visits, visit{fmt.Sprintf("patient %d", i), at})
	}
	return visits
}

type practice struct {
	jobs     gocron.Scheduler
	reminded atomic.Int64
}

func (p *practice) remind(patient string) {
	if patient != "" {
		p.reminded.Add(1)
	}
}

// plan makes jobs for the visits that are to come, and says how many were too late.
func (p *practice) plan(visits []visit) (late int, err error) {
	for _, v := range visits {
		_, err := p.jobs.NewJob(
			gocron.OneTimeJob(gocron.OneTimeJobStartDateTime(v.remind)),
			gocron.NewTask(p.remind, v.patient),
		)
		switch {
		case errors.Is(err, gocron.ErrOneTimeJobStartDateTimePast):
			late++
		case err != nil:
			return late, err
		}
	}
	return late, nil
}

func main() {
	lists := flag.Int("lists", 500, "how often the list is read")
	flag.Parse()
	jobs, err := gocron.NewScheduler()
	if err != nil {
		log.Fatal(err)
	}
	jobs.Start()
	p := &practice{jobs: jobs}
	late := 0
	for range *lists {
		n, err := p.plan(list(time.Now()))
		if err != nil {
			log.Fatal(err)
		}
		late += n
		time.Sleep(7 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	if err := jobs.Shutdown(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("reminded:", p.reminded.Load(), "late:", late)
	fmt.Println("operations:", *lists)
}
