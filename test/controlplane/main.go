// Command controlplane holds every process of a small real Kubernetes control plane in one
// binary, so that tests compile and cache one file. `controlplane COMPONENT [flags]` becomes that
// component: the flags are those of the upstream program of the same name.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	_ "time/tzdata" // schedules of CronJobs may name a time zone

	"gang-scheduler.dev/test/controlplane/fakekubelet"
	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components maps a subcommand to the constructor of its command. Only the chosen constructor may
// run: each upstream one installs the process-wide signal handler, which allows one call.
var components = map[string]func() *cobra.Command{
	"certs":                   newCertsCommand,
	"etcd":                    newEtcdCommand,
	"fake-kubelet":            fakekubelet.NewCommand,
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-scheduler":          newSchedulerCommand,
	"yaml2json":               newYAMLCommand,
}

func newSchedulerCommand() *cobra.Command { return scheduler.NewSchedulerCommand() }

func usage() string {
	names := make([]string, 0, len(components))
	for name := range components {
		names = append(names, name)
	}
	sort.Strings(names)
	return "usage: controlplane COMPONENT [flags]\ncomponents: " + strings.Join(names, " ")
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage())
		os.Exit(2)
	}
	construct, known := components[os.Args[1]]
	if !known {
		fmt.Fprintf(os.Stderr, "controlplane: no component %q\n%s\n", os.Args[1], usage())
		os.Exit(2)
	}
	followLifeline()
	// The component sees the arguments as if it were a program of its own.
	os.Args = append([]string{os.Args[1]}, os.Args[2:]...)
	os.Exit(cli.Run(construct()))
}
