package code

import "testing"

func TestLibraryOf(t *testing.T) {
	for function, want := range map[string]string{
		"google.golang.org/grpc/internal/transport.dial":             "google.golang.org/grpc",
		"google.golang.org/grpc.NewClient":                           "google.golang.org/grpc",
		"google.golang.org/grpc.(*ClientConn).Invoke":                "google.golang.org/grpc",
		"github.com/redis/go-redis/v9.NewClient":                     "github.com/redis/go-redis",
		"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).Get": "github.com/redis/go-redis",
		"go.mongodb.org/mongo-driver/mongo.Connect":                  "go.mongodb.org/mongo-driver",
		"golang.org/x/net/http2.(*Transport).RoundTrip":              "golang.org/x/net/http2",
		"net/http.(*Client).Do":                                      "",
		"main.main.func1":                                            "",
	} {
		if got := libraryOf(function); got != want {
			t.Errorf("libraryOf(%s) = %q, want %q", function, got, want)
		}
	}
}
