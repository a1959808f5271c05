//! A walk takes no memory: all of it is taken when the walker is made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use equiform_algebra::generate::stream;
use equiform_algebra::implicit::{Escape, Pace, Walker};
use equiform_algebra::signature::Signature;
use equiform_algebra::source::Source;
use equiform_algebra::weights::Weights;

struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local without a
// destructor only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = TAKEN.get();
    run();
    TAKEN.get() - before
}

#[test]
fn walks_of_every_pace_take_no_memory() {
    for (resources, edges) in [(5, 4), (15, 12), (120, 98), (1000, 816)] {
        for weights in [Weights::bare().clone(), Weights::even(Signature::attributed())] {
            walks_take_no_memory(resources, edges, &weights);
        }
    }
}

fn walks_take_no_memory(resources: u32, edges: u64, weights: &Weights) {
    let mut rng = stream(1, None);
    let source = Source::random(resources..=resources, edges..=edges, &mut rng)
        .dressed(weights, &mut rng)
        .with_foreign(10, &mut rng);
    let bound = 4 * source.graph.size() + 16;
    let paces =
        [0.0, 0.25, 0.5, 1.0].map(|epsilon| Pace::Escape { escape: Escape::new(epsilon).unwrap(), bound });
    for pace in paces.into_iter().chain([Pace::Length(2 * source.graph.size())]) {
        let mut walker = Walker::new(&source.graph, source.names.count(), pace, 0.5, weights);
        let taken = allocations(|| {
            for variant in 0..200 {
                walker.walk(&mut stream(1, Some(variant)));
            }
        });
        assert_eq!(taken, 0, "{resources} resources, {pace:?}");
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}
