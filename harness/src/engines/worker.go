// A second way into an engine that is built from source: with EQUIFORM_WORKER in its environment, the process runs one
// command after another, as engines/worker.rs says, in the place of the one on its command line. The file is added to
// the package of the engine's main function, and nothing else in the engine is changed.
//
// Its name has to come last in that package: by then the other files have been initialised.

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"syscall"
)

const equiformGreeting = "equiform worker 1"

type equiformRequest struct {
	Arguments []string `json:"arguments"`
	Folder    string   `json:"folder"`
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
}

type equiformAnswer struct {
	Exit  *int   `json:"exit,omitempty"`
	Error string `json:"error,omitempty"`
}

func init() {
	if os.Getenv("EQUIFORM_WORKER") != equiformGreeting {
		return
	}
	if err := equiformServe(); err != nil {
		os.Stderr.WriteString("error: this engine cannot be kept warm: " + err.Error() + "\n")
		os.Exit(127)
	}
	os.Exit(0)
}

// Takes the standard streams for requests and answers, and leaves /dev/null to the engine in their place.
func equiformServe() error {
	nothing, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	requests, err := equiformTake(0, nothing)
	if err != nil {
		return err
	}
	answers, err := equiformTake(1, nothing)
	if err != nil {
		return err
	}
	if _, err := answers.WriteString(equiformGreeting + "\n"); err != nil {
		return err
	}
	program := os.Args[0]
	lines := bufio.NewScanner(requests)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var request equiformRequest
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return err
		}
		var answer equiformAnswer
		if exit, err := equiformRun(program, request, nothing); err == nil {
			answer.Exit = &exit
		} else {
			answer.Error = err.Error()
		}
		line, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if _, err := answers.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return lines.Err()
}

// Moves a file descriptor out of the engine's reach, and of what it starts.
func equiformTake(descriptor int, left *os.File) (*os.File, error) {
	taken, err := syscall.Dup(descriptor)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(taken)
	return os.NewFile(uintptr(taken), "equiform"), syscall.Dup3(int(left.Fd()), descriptor, 0)
}

func equiformRun(program string, request equiformRequest, nothing *os.File) (int, error) {
	if err := os.Chdir(request.Folder); err != nil {
		return 0, err
	}
	for descriptor, path := range map[int]string{1: request.Stdout, 2: request.Stderr} {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return 0, err
		}
		err = syscall.Dup3(int(file.Fd()), descriptor, 0)
		file.Close()
		if err != nil {
			return 0, err
		}
		defer syscall.Dup3(int(nothing.Fd()), descriptor, 0)
	}
	os.Args = append([]string{program}, request.Arguments...)
	// The engine makes its commands once in a process; they know the working directory.
	commands = nil
	return realMain(), nil
}
