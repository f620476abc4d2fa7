package main

import (
	"database/sql"
	"time"
)

// databases are programs with a pool of connections; who answers is in driver.go.
var databases = []program{
	{"rows-stuck", "rows are not closed when there are enough, and no connection is left", func() error {
		db := connect(4, time.Millisecond)
		crowd(20, func() { firstName(db) })
		return nil
	}},
	{"nested-stuck", "one connection, and a query for each row of another", func() error {
		db := connect(1, time.Millisecond)
		crowd(10, func() { ordersOf(db) })
		return nil
	}},
	{"database-slow", "few connections, and each query takes long", func() error {
		db := connect(2, 50*time.Millisecond)
		crowd(30, func() { total(db) })
		return nil
	}},
	{"database-fine", "as many connections as queries", func() error {
		db := connect(20, 5*time.Millisecond)
		for range 10 {
			go every(100*time.Millisecond, func() { total(db) })
		}
		return nil
	}},
}

// connect makes a pool of so many connections to a database that answers after a while.
func connect(most int, takes time.Duration) *sql.DB {
	db := sql.OpenDB(database{takes})
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db
}

func firstName(db *sql.DB) (name string) {
	rows, err := db.Query("SELECT name FROM customers") // want cause rows-stuck
	if err != nil {
		panic(err)
	}
	if rows.Next() {
		rows.Scan(&name)
	}
	return name // the other rows stay where they are
}

func ordersOf(db *sql.DB) {
	rows, err := db.Query("SELECT id FROM customers") // want cause nested-stuck
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	for rows.Next() {
		countOrders(db) // want holder nested-stuck
	}
}

func countOrders(db *sql.DB) {
	rows, err := db.Query("SELECT count(*) FROM orders") // want cause nested-stuck; holder nested-stuck
	if err != nil {
		panic(err)
	}
	rows.Close()
}

func total(db *sql.DB) {
	rows, err := db.Query("SELECT sum(price) FROM orders") // want cause database-slow; holder database-slow
	if err != nil {
		panic(err)
	}
	for rows.Next() {
	}
	rows.Close()
}
